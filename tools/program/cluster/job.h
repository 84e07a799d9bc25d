#pragma once
// One conversion that several processes share, on one machine or on many.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "converters/convert.h"

namespace feedrate::tools {

/// What `feedrate convert` was asked for.
struct ConversionJob {
  struct Split {
    std::string name;
    std::filesystem::path out;  // its directory
  };

  const converters::Source& from;
  std::vector<std::filesystem::path> inputs;
  const formats::Container& to;
  converters::ConvertOptions settings;
  std::vector<Split> splits;
};

/// A split, or a part of one, that was converted.
struct Converted {
  std::string split;
  std::filesystem::path path;
  converters::Conversion result;
};

/// What an earlier run finished of this split (or of its part, if settings.part is one), or what
/// this one makes of it.
converters::Conversion keep_or_convert(const ConversionJob& job, const ConversionJob::Split& split,
                                       const converters::ConvertOptions& settings);

/// How many pieces `ranks` processes cut each split into: about four each, so that a slow one holds
/// up the others by a quarter of its work, and at most one for each shard; or, if pieces of an
/// earlier run lie beside their outputs, as many as that run had. Throws Error if the format or
/// --shards leaves nothing to share.
std::uint32_t count_pieces(const ConversionJob& job, std::uint32_t ranks);

}  // namespace feedrate::tools
