#pragma once
// Measures a GPU's roof with cuBLASLt's matrix product and a copy in its memory.

#include <string>

#include "trainer/graph/roofline.h"

namespace feedrate::trainer::cuda {

/// Measures own_device() in one of known_precisions. Takes a fraction of a second, and free memory.
Roof measure_roof(const std::string& precision);

}  // namespace feedrate::trainer::cuda
