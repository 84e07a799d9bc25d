#pragma once
// The parts of a conversion that lie beside its output.

#include <filesystem>
#include <vector>

#include "converters/convert.h"

namespace feedrate::converters {

struct FoundPart {
  std::filesystem::path path;  // "<out>.part-3-of-8", with ".partial" behind it while unfinished
  ConversionPart part;
  bool whole = false;
};

/// The parts of `out`, whole and unfinished, by number. Throws Error naming two of them if not all
/// are of the same count, or if a directory is there that cannot be listed.
std::vector<FoundPart> find_parts(const std::filesystem::path& out);

/// The same, of whatever counts.
std::vector<FoundPart> find_any_parts(const std::filesystem::path& out);

/// True if parts were found, and all of them are whole.
bool all_whole(const std::vector<FoundPart>& parts);

}  // namespace feedrate::converters
