#pragma once
// Paths of the sources, the program under test, and files that the build puts beside a test.

#include <filesystem>
#include <string>

namespace feedrate::testing {

/// The root of the source tree, or of the part that tests read: $FEEDRATE_SOURCE where they were
/// moved to another machine.
std::filesystem::path source_directory();

inline std::filesystem::path beside_this_program(const std::filesystem::path& file) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / file;
}

/// `feedrate` itself, which the build puts beside its tests.
inline std::string program_under_test() { return beside_this_program("feedrate").string(); }

}  // namespace feedrate::testing
