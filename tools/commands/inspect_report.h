#pragma once
// What `feedrate inspect` tells of a dataset: found first, then told as text or JSON.

#include <string>
#include <utility>
#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::tools {

struct Inspection {
  /// A sample as it is told of; nothing of it refers to a reader's scratch.
  struct First {
    std::uint64_t index = 0;
    std::int32_t label = 0;
    std::string name;
    formats::Shape shape;
    std::uint64_t bytes = 0;
    std::string damage;  // why it cannot be read, and nothing else is known; empty: it can
  };
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
  };
  /// What `class_counts` counts: all samples, as they are or as the sidecar says where not all have
  /// been read, or those looked at alone.
  enum class Source : std::uint8_t { sidecar, all, some };

  formats::DatasetInfo info;
  formats::Survey survey;
  std::vector<First> first;
  std::vector<File> files;
  std::vector<std::pair<std::int32_t, std::uint64_t>> class_counts;  // label and samples, by label
  Source counted = Source::all;
  /// As many as the sidecar says, or more where labels beyond are met; without one, the largest
  /// label met + 1: exact where all samples were looked at, else the least that there are.
  std::uint64_t classes = 0;
};

/// The first `samples` are listed, damaged ones too. Throws Error when the dataset's files cannot
/// be looked at.
Inspection inspect(const formats::Dataset& dataset, formats::Survey survey, std::uint64_t samples);

/// One screen, a hundred columns wide.
std::string inspection_text(const Inspection& inspection);
/// One object. Names of a dataset that are not UTF-8 have the replacement character in them.
std::string inspection_json(const Inspection& inspection);

}  // namespace feedrate::tools
