#include "tests/support/places.h"

namespace feedrate::testing {

// Only here, so that only this file is recompiled when the sources move.
std::filesystem::path source_directory() { return FEEDRATE_SOURCE_DIR; }

}  // namespace feedrate::testing
