#pragma once
// The CPU's roof, by oneDNN's own matrix product and by a copy.

#include "trainer/graph/roofline.h"

namespace feedrate::trainer::cpu {

/// Takes about half a second. `threads` of OpenMP.
Roof measure_roof(unsigned threads);

}  // namespace feedrate::trainer::cpu
