#pragma once
// Real datasets and files of other tools, where the machine has them.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "tests/support/places.h"

namespace feedrate::testing {

/// The file `name` under $FEEDRATE_DATA, or under shared/data beside the project; nothing if it
/// does not exist (the test is then skipped with a message).
inline std::optional<std::filesystem::path> data_file(std::string_view name) {
  namespace fs = std::filesystem;
  const char* given = std::getenv("FEEDRATE_DATA");
  const fs::path root = given != nullptr ? fs::path(given) : source_directory() / "../shared/data";
  const fs::path file = root / name;
  if (!fs::exists(file)) return std::nullopt;
  return file;
}

}  // namespace feedrate::testing
