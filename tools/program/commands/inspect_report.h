#pragma once
// What `feedrate inspect` finds out about a dataset, and how it prints that as text or JSON.

#include <string>
#include <utility>
#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::tools {

struct Inspection {
  /// One of the first samples. It owns its data.
  struct First {
    std::uint64_t index = 0;
    std::int32_t label = 0;
    std::string name;
    formats::Shape shape;
    std::uint64_t bytes = 0;
    std::string damage;  // why it cannot be read; only `index` is known then. Empty: it can
  };
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
  };
  /// What `class_counts` counts: all samples, as the sidecar states or as they were examined, or
  /// only some: those that were examined.
  enum class Source : std::uint8_t { sidecar, all, some };

  formats::DatasetInfo info;
  formats::Survey survey;
  std::vector<First> first;
  std::vector<File> files;
  std::vector<std::pair<std::int32_t, std::uint64_t>> class_counts;  // label and samples, by label
  Source counted = Source::all;
  /// The sidecar's number; the largest label seen + 1 if that is more, or without a sidecar. Exact
  /// if all samples were examined, else a lower bound.
  std::uint64_t classes = 0;
};

/// Lists the first `samples`, damaged ones too. Throws Error when the size of a file cannot be
/// read.
Inspection inspect(const formats::Dataset& dataset, formats::Survey survey, std::uint64_t samples);

/// One screen, 100 columns wide.
std::string inspection_text(const Inspection& inspection);
/// One object. Bytes of names that are not UTF-8 become U+FFFD.
std::string inspection_json(const Inspection& inspection);

}  // namespace feedrate::tools
