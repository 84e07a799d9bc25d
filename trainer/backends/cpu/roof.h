#pragma once
// Measures the CPU's roof with oneDNN's matrix product and a copy.

#include "trainer/graph/roofline.h"

namespace feedrate::trainer::cpu {

/// On `threads` OpenMP threads, in fp32, in which activations are stored whatever the precision.
/// Takes about half a second.
Roof measure_roof(unsigned threads);

}  // namespace feedrate::trainer::cpu
