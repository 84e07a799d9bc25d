#pragma once
// The libraries that compute products.

#include <vector>

#include "trainer/backends/backend.h"

namespace feedrate::trainer::cpu {

/// Of oneDNN and OpenBLAS, as loaded, which may differ from those that were built with.
std::vector<LibraryVersion> library_versions();

}  // namespace feedrate::trainer::cpu
