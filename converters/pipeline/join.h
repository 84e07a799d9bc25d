#pragma once
// Joins the parts of a conversion that was split among several machines.

#include <filesystem>
#include <optional>

#include "converters/convert.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {

/// Makes the dataset `out` from `<out>.part-1-of-N` … `<out>.part-N-of-N`, whose files keep their
/// names. The result equals that of a single machine. The parts are removed once `out` is on disk.
/// Throws Error if one is missing, unfinished or made with other options or inputs.
Conversion join_parts(const std::filesystem::path& out);
/// The same into a directory that the caller has locked: it is committed.
Conversion join_parts(formats::PartialDirectory& directory);
/// The same for one of several processes that finish parts of `out`, if all of its parts are whole:
/// exactly one of those that call this joins them. Nothing for the others, and while one is missing.
std::optional<Conversion> join_if_whole(const std::filesystem::path& out);

}  // namespace feedrate::converters
