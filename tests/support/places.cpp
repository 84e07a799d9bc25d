#include "tests/support/places.h"

#include <cstdlib>

namespace feedrate::testing {

// Only here, so that only this file is recompiled when the sources move.
std::filesystem::path source_directory() {
  const char* moved = std::getenv("FEEDRATE_SOURCE");
  return moved != nullptr ? moved : FEEDRATE_SOURCE_DIR;
}

}  // namespace feedrate::testing
