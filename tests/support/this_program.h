#pragma once
// Files that the build puts beside a test program.

#include <filesystem>

namespace feedrate::testing {

inline std::filesystem::path beside_this_program(const std::filesystem::path& file) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / file;
}

}  // namespace feedrate::testing
