#pragma once
// Joins the parts of a conversion that was split among several machines.

#include <filesystem>
#include <optional>

#include "converters/convert.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {

/// Makes the dataset `out` from `<out>.part-1-of-N` … `<out>.part-N-of-N`, whose files keep their
/// names. The result equals that of a single machine. The parts are removed once `out` is on disk;
/// if an earlier call was killed meanwhile, this one does no more than that. Throws Error if a part
/// is missing, unfinished or made with other options or inputs.
Conversion join_parts(const std::filesystem::path& out);
/// The same into a directory that the caller has locked: it is committed.
Conversion join_parts(formats::PartialDirectory& directory);
/// For several processes that each finish a part of `out` and then call this: joins the parts as
/// above once all are whole, in exactly one of the processes. Returns nothing in the others, and
/// while a part is missing.
std::optional<Conversion> join_if_whole(const std::filesystem::path& out);
/// Removes the finished parts of the dataset `out` whose files are all in it: a process that joined
/// them was killed before it could. True if none is left.
bool remove_joined_parts(const std::filesystem::path& out);

}  // namespace feedrate::converters
