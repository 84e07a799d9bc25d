#pragma once
// Convolution by oneDNN, in the layouts that it chooses.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_onednn_conv(const LayerSite& site);

}  // namespace feedrate::trainer::cpu
