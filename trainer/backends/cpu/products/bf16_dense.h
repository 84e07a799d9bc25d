#pragma once
// A dense layer whose products multiply bf16, by oneDNN: weights, and values and gradients that are
// fp32, are rounded first; sums are fp32.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_bf16_dense(const LayerSite& site);

}  // namespace feedrate::trainer::cpu
