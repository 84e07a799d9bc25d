#include "formats/containers/webdataset/sample_facts.h"

#include <limits>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"
#include "formats/containers/webdataset/wds_json.h"

namespace feedrate::formats {

TarFacts read_sample_facts(const TarShard& shard, const TarSample& files, Scratch& scratch) {
  TarFacts facts;
  SampleJson json;
  const auto clear = [&] {
    scratch.name.clear();
    scratch.boxes.clear();
    scratch.labels.clear();
  };
  clear();
  try {
    if (files.json) {
      json = read_sample_json(shard.bytes(*files.json), files.keys->json_label, scratch);
    }
  } catch (const Error&) {
    if (!files.label) throw;
    clear();
    facts.json_damaged = true;
  }
  facts.boxes_left_out = json.boxes_left_out;
  if (!files.label) {
    facts.label = json.label;
    facts.label_text = std::move(json.label_text);
    return facts;
  }
  facts.label_text = trimmed(as_text(shard.bytes(*files.label)));
  facts.label = parse_number<std::int64_t>(facts.label_text);
  if (facts.label) return facts;
  if (!is_utf8(facts.label_text) || without_controls(facts.label_text) != facts.label_text) {
    throw Error(join("the .", files.keys->label, " holds neither a number nor text in UTF-8"));
  }
  if (facts.label_text.empty()) throw Error(join("the .", files.keys->label, " is empty"));
  return facts;
}

std::int32_t class_of(const TarFacts& facts, const TarSample& files, const TextClasses* classes) {
  const auto& [label, text, damaged, boxes] = facts;
  if (!facts.labelled()) {
    throw Error(join("holds no label: its files are ", listed_extensions(files.extensions),
                     "; expected a .", files.keys->label, ", or a .json with a \"",
                     files.keys->json_label, "\"; behind the path, ?label=NAME names another"));
  }
  if (classes != nullptr) {
    if (!text.empty()) return classes->label(text);
    throw Error(
        join("the label ", *label, " is a number; expected text, as other samples have it"));
  }
  if (label && *label >= 0 && *label <= std::numeric_limits<std::int32_t>::max()) {
    return static_cast<std::int32_t>(*label);
  }
  constexpr std::size_t max_shown = 40;
  const std::string shown = text.empty() ? std::to_string(*label) : text.substr(0, max_shown);
  throw Error(join("the label '", shown, "' is not a class number"));
}

std::string listed_extensions(std::string_view extensions) {
  std::string list;
  for (const char letter : extensions.substr(0, extensions.size() - 1)) {
    list += letter == '/' ? std::string(" .") : std::string(1, letter);
  }
  return "." + list;
}

}  // namespace feedrate::formats
