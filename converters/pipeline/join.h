#pragma once
// Joins the parts of a conversion that was split among several machines.

#include <filesystem>

#include "converters/convert.h"

namespace feedrate::converters {

/// Makes the dataset `out` from `<out>.part-1-of-N` … `<out>.part-N-of-N`, whose files keep their
/// names. The result equals that of a single machine. The parts are removed once `out` is on disk.
/// Throws Error if one is missing, unfinished or made with other options or inputs.
Conversion join_parts(const std::filesystem::path& out);

}  // namespace feedrate::converters
