#pragma once
// A path as the name of a directory.

#include <filesystem>

namespace feedrate::formats {

/// The path without a trailing slash: the name of its directory, to which ".partial" can be appended.
inline std::filesystem::path without_slash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace feedrate::formats
