#pragma once
// Which file of a published dataset to get where, and which commands read it: `feedrate help
// sources`. Datasets that can be named without an account are also fetched (fetch.h).

#include <span>
#include <string_view>

namespace feedrate::converters {

struct SourceGuide {
  std::string_view name;   // of the dataset, and who packed it
  std::string_view files;  // to get
  std::string_view where;  // a page or an address
  std::string_view synth;  // makes such files (synth.h); empty for formats, which are only read
  std::span<const std::string_view> commands;  // to run beside the files
};

/// All rows, the most asked for first.
std::span<const SourceGuide> source_guides();

}  // namespace feedrate::converters
