#include "tools/program/commands/inspect_report.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "formats/base/error.h"
#include "tools/console/json_fields.hpp"
#include "tools/program/commands/shape_fields.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

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

template <>
inline constexpr Heading heading_of<Quantiles>{"spread", "How numbers are distributed."};

template <class Field>
void for_each_field(const Quantiles& spread, const Field& field) {
  field("min", spread.min, {"the smallest"});
  field("p5", spread.low, {"5 % are below"});
  field("median", spread.median, {"half are below"});
  field("p95", spread.high, {"5 % are above"});
  field("max", spread.max, {"the largest"});
}

template <class Field>
void for_each_field(const Survey& survey, const Field& field) {
  field("samples", survey.looked(), {"how many were looked at"});
  field("unreadable", survey.unreadable, {"how many of them are damaged"});
  field("codecs", survey.codecs, {"number of readable samples with each codec"});
  field("grey", survey.grey, {"how many have one channel"});
  field("height", survey.heights, {"of images", Unit{"pixels"}});
  field("width", survey.widths, {"of images", Unit{"pixels"}});
  field("bytes", survey.bytes, {"of encoded samples", Unit{"bytes"}});
  field("total_bytes", survey.total_bytes, {"of encoded samples, added up"});
  field("first_unreadable", unless_empty(survey.first_unreadable),
        {"why the first damaged sample cannot be read", Absent{"none is damaged"}});
}

template <class Field>
void for_each_field(const Sidecar::Input& input, const Field& field) {
  field("name", input.name, {"base name"});
  field("bytes", input.bytes, {"size"});
  field("hash", input.hash, {"`xxh128:`, `xxh128-sum:` or `sha256:`, and hex"});
}

template <class Field>
void for_each_field(const Inspection::File& file, const Field& field) {
  field("path", file.path.string(), {"the file"});
  field("bytes", file.bytes, {"its size"});
}

template <class Field>
void for_each_field(const Inspection::First& one, const Field& field) {
  constexpr std::string_view damaged = "the sample is damaged";
  const auto readable = [&](auto value) { return only_if(one.damage.empty(), value); };
  field("index", one.index, {"from 0"});
  field("label", readable(one.label), {"its class", Absent{damaged}});
  field("name", readable(one.name), {"empty if the sample has none", Absent{damaged}});
  field("shape", readable(one.shape), {"of the image", Absent{damaged}});
  field("bytes", readable(one.bytes), {"encoded", Absent{damaged}});
  field("damage", unless_empty(one.damage), {"why the sample cannot be read", Absent{"it can"}});
}

template <>
inline constexpr Heading heading_of<Inspection>{"inspect", "What `feedrate inspect` prints."};

template <class Field>
void for_each_field(const Inspection& found, const Field& field) {
  constexpr std::string_view no_sidecar = "no sidecar";
  constexpr std::array sources{"sidecar", "all", "some"};
  const DatasetInfo& info = found.info;
  const std::vector<std::string>& names = info.class_names.names;
  const auto of_sidecar = [&](auto member) {
    return info.sidecar ? std::optional(*info.sidecar.*member) : std::nullopt;
  };
  field("path", shown_path(info.path), {"the dataset as given"});
  field("format", info.format, {"its container"});
  field("codec", info.codec, {"of the first sample that can be read"});
  field("samples", info.size, {"in the dataset"});
  field("shape", info.shape, {"of the first sample that can be read"});
  field("classes", found.classes,
        {"the sidecar's number; the largest label seen + 1 if that is more, or without a sidecar"});
  // Folders and labels.txt have names, too.
  field("class_names", only_if(!names.empty() || info.sidecar, names),
        {"names of the classes, by label", Null{"not known, and no sidecar"}});
  field("source", of_sidecar(&Sidecar::source),
        {"what was converted: mnist, imagenet, …", Null{no_sidecar}});
  field("split", of_sidecar(&Sidecar::split), {"train, test, …", Null{no_sidecar}});
  field("digest", of_sidecar(&Sidecar::digest),
        {"of labels and pixels in order; empty if the conversion decoded nothing",
         Unit{sha256_unit}, Null{no_sidecar}});
  field("set_digest", of_sidecar(&Sidecar::set_digest),
        {"of labels and pixels, whatever the order; empty if the conversion decoded nothing",
         Unit{sha256_unit}, Null{no_sidecar}});
  field("bytes_digest", of_sidecar(&Sidecar::bytes_digest),
        {"of the samples as they are stored, in order", Unit{sha256_unit}, Null{no_sidecar}});
  field("label_space", of_sidecar(&Sidecar::label_space),
        {"how labels count: `0-based`", Null{no_sidecar}});
  field("tool_version", of_sidecar(&Sidecar::tool_version),
        {"of the feedrate that converted it", Null{no_sidecar}});
  field("inputs", of_sidecar(&Sidecar::inputs), {"the archives that were read", Null{no_sidecar}});
  field("options", of_sidecar(&Sidecar::options),
        {"options that shaped the result", Null{no_sidecar}});
  field("notes", of_sidecar(&Sidecar::notes), {"images re-encoded, left out, …", Null{no_sidecar}});
  field("remarks", found.info.notes, {"what reading it assumed or passed over"});
  field("class_counts_from", sources[static_cast<std::size_t>(found.counted)],
        {"what `class_counts` counts: `all` samples, those the `sidecar` states, or `some`: the "
         "samples looked at"});
  field("class_counts", std::map(found.class_counts.begin(), found.class_counts.end()),
        {"samples of each class; a key is a label"});
  field("looked_at", found.survey, {"statistics of the samples looked at"});
  field("files", found.files, {"files that hold samples; empty if each sample is a file"});
  field("first", found.first, {"the first samples, as many as `--samples` asks"});
}

Description describe_inspect() { return description_of(Inspection{}); }

std::string inspection_json(const Inspection& found) { return json_text_of(found); }

}  // namespace feedrate::tools
