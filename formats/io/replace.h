#pragma once
// Files that come to be beside their final name and are then renamed over it.

#include <filesystem>

namespace feedrate::formats {

/// The file that a rename for `path` would replace: links are followed, so that they stay links.
/// Throws Error when no file can be put there: a directory has the name, or the directory it would
/// be in is missing or may not be written. Worth a call before long work.
std::filesystem::path replaceable(const std::filesystem::path& path);

/// Whether `path` is a device, a pipe or a terminal: written into, for a rename would destroy it.
bool is_device(const std::filesystem::path& path);

}  // namespace feedrate::formats
