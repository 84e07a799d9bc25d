#include "tests/support/places.h"

namespace feedrate::testing {

// Here alone, so that only this file is compiled anew when the sources move.
std::filesystem::path source_directory() { return FEEDRATE_SOURCE_DIR; }

}  // namespace feedrate::testing
