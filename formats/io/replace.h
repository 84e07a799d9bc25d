#pragma once
// Replacing files: a new file is written beside the old one and renamed over it.

#include <filesystem>

#include "formats/io/file.h"

namespace feedrate::formats {

/// The file that a rename to `path` would replace: follows links, so that they stay links. Throws
/// Error when no file can be put there: the name is a directory's, or its directory is missing or
/// not writable. Call it before long work.
std::filesystem::path replaceable(const std::filesystem::path& path);

/// True for a device, pipe or terminal, which must be written to: a rename would destroy it.
bool is_device(const std::filesystem::path& path);

/// Whether `name` still refers to the open file: another process may have renamed it, or put
/// another in its place. A lock on the file is of use only while this holds.
bool is_named(const Descriptor& file, const std::filesystem::path& name);

}  // namespace feedrate::formats
