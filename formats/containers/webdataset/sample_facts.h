#pragma once
// What the members of a sample beside its image say. Stateless.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/containers/text_classes.h"
#include "formats/containers/webdataset/tar_shard.h"

namespace feedrate::formats {

struct TarFacts {
  std::optional<std::int64_t> label;  // where it is a number, 3, 3.0 or "3"
  std::string label_text;             // where it is text, which may be that of a number
  bool json_damaged = false;          // but was not needed
  std::uint32_t boxes_left_out = 0;

  bool labelled() const { return label || !label_text.empty(); }
};

/// Reads the label, and into `scratch` what else the .json tells. Other tools' .json need not be one where a member has
/// the label. Throws Error for what is damaged.
TarFacts read_sample_facts(const TarShard& shard, const TarSample& files, Scratch& scratch);

/// The label. `classes` are those of labels that are text, else null. Throws Error where there is none.
std::int32_t class_of(const TarFacts& facts, const TarSample& files, const TextClasses* classes);

/// Turns "cls/jpg/" into ".cls .jpg", for people.
std::string listed_extensions(std::string_view extensions);

}  // namespace feedrate::formats
