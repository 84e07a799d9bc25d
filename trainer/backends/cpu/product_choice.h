#pragma once
// Which library multiplies, and in which precision: rules of a layer's shape alone, never of a
// stopwatch or of the machine, so that the same network always computes the same bits. Any thread.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::cpu {

/// Whether oneDNN multiplies the site's convolution faster in fp32 than matrix products do.
bool suits_onednn(const LayerSite& site);

/// Whether the site's node is a convolution or a dense layer that takes less time where its factors
/// are rounded to bf16.
bool gains_by_bf16(const LayerSite& site);

}  // namespace feedrate::cpu
