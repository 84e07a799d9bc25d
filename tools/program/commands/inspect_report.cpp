#include "tools/program/commands/inspect_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/base/error.h"
#include "tools/lab/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::uint64_t max_listed_classes = 1 << 20;  // a sidecar may state any number

std::vector<Inspection::First> first_samples(const Dataset& dataset, std::uint64_t count) {
  Scratch scratch;
  std::vector<Inspection::First> first;
  for (std::uint64_t i = 0; i < std::min(count, dataset.size()); ++i) {
    try {
      const Sample sample = dataset.read(i, scratch);
      first.push_back(
          {i, sample.label, std::string(sample.name), sample.shape, sample.bytes.size(), {}});
    } catch (const Error& error) {
      first.push_back({i, 0, {}, {}, 0, error.what()});
    }
  }
  return first;
}

std::vector<Inspection::File> file_sizes(const std::vector<fs::path>& paths) {
  std::vector<Inspection::File> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) fail_errno(path, "cannot read its size", error.value());
    files.push_back({path, bytes});
  }
  return files;
}

// A sidecar that counts another number of samples describes other files.
bool counts_all(const Sidecar& sidecar, std::uint64_t size) {
  const auto& counts = sidecar.class_counts;
  return !counts.empty() && std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == size;
}

void count_classes(Inspection& found) {
  const DatasetInfo& info = found.info;
  std::map<std::int32_t, std::uint64_t> counts = found.survey.class_counts;
  // Counts of all samples take precedence over those of a sidecar.
  const bool all_known = found.survey.samples.size() == info.size;
  if (!all_known && info.sidecar && counts_all(*info.sidecar, info.size)) {
    found.counted = Inspection::Source::sidecar;
    counts.clear();
    for (const std::uint64_t count : info.sidecar->class_counts) {
      counts.emplace_hint(counts.end(), static_cast<std::int32_t>(counts.size()), count);
    }
  } else {
    const bool all = found.survey.looked() == info.size;
    found.counted = all ? Inspection::Source::all : Inspection::Source::some;
  }
  if (info.classes <= max_listed_classes) {  // list classes without samples, too
    for (std::uint32_t i = 0; i < info.classes; ++i) counts[static_cast<std::int32_t>(i)] += 0;
  }
  found.class_counts.assign(counts.begin(), counts.end());
  const std::int64_t largest = counts.empty() ? -1 : counts.rbegin()->first;
  const std::int64_t met = std::max<std::int64_t>(largest + 1, 0);  // labels may be below 0
  found.classes = std::max<std::uint64_t>(info.classes, static_cast<std::uint64_t>(met));
}

ordered_json shape_json(Shape shape) {
  return {{"height", shape.height}, {"width", shape.width}, {"channels", shape.channels}};
}

ordered_json quantiles_json(const Quantiles& of) {
  return {
      {"min", of.min}, {"p5", of.low}, {"median", of.median}, {"p95", of.high}, {"max", of.max}};
}

// The keys that only a sidecar knows; null without one.
void add_sidecar(ordered_json& object, const std::optional<Sidecar>& sidecar) {
  const char* keys[] = {"source",      "split",        "digest", "set_digest", "bytes_digest",
                        "label_space", "tool_version", "inputs", "options",    "notes"};
  for (const char* key : keys) object[key] = nullptr;
  if (!sidecar) return;
  object["source"] = sidecar->source;
  object["split"] = sidecar->split;
  object["digest"] = sidecar->digest;
  object["set_digest"] = sidecar->set_digest;
  object["bytes_digest"] = sidecar->bytes_digest;
  object["label_space"] = sidecar->label_space;
  object["tool_version"] = sidecar->tool_version;
  object["options"] = sidecar->options;
  object["notes"] = sidecar->notes;
  object["inputs"] = ordered_json::array();
  for (const Sidecar::Input& input : sidecar->inputs) {
    object["inputs"].push_back(
        {{"name", input.name}, {"bytes", input.bytes}, {"hash", input.hash}});
  }
}

}  // namespace

Inspection inspect(const Dataset& dataset, Survey survey, std::uint64_t samples) {
  Inspection found;
  found.info = dataset.info();
  found.survey = std::move(survey);
  found.first = first_samples(dataset, samples);
  found.files = file_sizes(found.info.files);
  count_classes(found);
  return found;
}

std::string inspection_json(const Inspection& found) {
  const DatasetInfo& info = found.info;
  const Survey& survey = found.survey;
  ordered_json object{
      {"path", info.path.string()}, {"format", info.format},           {"codec", info.codec},
      {"samples", info.size},       {"shape", shape_json(info.shape)}, {"classes", found.classes}};
  const auto& names = info.class_names.names;  // folders and labels.txt have them, too
  object["class_names"] = names.empty() && !info.sidecar ? ordered_json() : ordered_json(names);
  add_sidecar(object, info.sidecar);
  constexpr const char* sources[] = {"sidecar", "all", "some"};
  object["class_counts_from"] = sources[static_cast<std::size_t>(found.counted)];
  object["class_counts"] = ordered_json::object();
  for (const auto& [label, count] : found.class_counts) {
    object["class_counts"][std::to_string(label)] = count;
  }
  object["looked_at"] = {{"samples", survey.looked()},
                         {"unreadable", survey.unreadable},
                         {"codecs", survey.codecs},
                         {"grey", survey.grey},
                         {"height", quantiles_json(survey.heights)},
                         {"width", quantiles_json(survey.widths)},
                         {"bytes", quantiles_json(survey.bytes)},
                         {"total_bytes", survey.total_bytes}};
  if (survey.unreadable != 0) object["looked_at"]["first_unreadable"] = survey.first_unreadable;
  object["files"] = ordered_json::array();
  for (const Inspection::File& file : found.files) {
    object["files"].push_back({{"path", file.path.string()}, {"bytes", file.bytes}});
  }
  object["first"] = ordered_json::array();
  for (const Inspection::First& one : found.first) {
    if (!one.damage.empty()) {
      object["first"].push_back({{"index", one.index}, {"damage", one.damage}});
      continue;
    }
    object["first"].push_back({{"index", one.index},
                               {"label", one.label},
                               {"name", one.name},
                               {"shape", shape_json(one.shape)},
                               {"bytes", one.bytes}});
  }
  return json_text(object);
}

}  // namespace feedrate::tools
