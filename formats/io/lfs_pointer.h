#pragma once
// Git LFS keeps large files outside a repository; a clone without them has a text of three lines in
// the place of each file. That text is the most frequent damage of data fetched from repositories.

#include <filesystem>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Throws Error where the bytes are those of a pointer: says which command fetches the file. Any
/// thread.
void refuse_lfs_pointer(const std::filesystem::path& path, Bytes file);
/// As above, for the file at the path.
void refuse_lfs_pointer(const std::filesystem::path& file);

}  // namespace feedrate::formats
