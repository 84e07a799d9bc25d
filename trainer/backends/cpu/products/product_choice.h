#pragma once
// Which library multiplies, and in which precision: rules of a layer's shape and of the batch (a
// rank's own), never of a stopwatch or of the machine, so that the same network at the same batch
// always computes the same bits. Any thread.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

/// Whether oneDNN multiplies the site's convolution faster in fp32 than matrix products do.
bool suits_onednn(const LayerSite& site);

/// Whether the factors of the site's node may be rounded to bf16: of convolutions and of dense layers
/// but narrow ones, which end networks: with those rounded too, steps beside PyTorch's were 8 % off.
bool may_round(const LayerSite& site);

/// Whether the site's node may be rounded and takes less time then, as on a processor with
/// avx512_bf16 (measured: Zen 5).
bool gains_by_bf16(const LayerSite& site);

}  // namespace feedrate::trainer::cpu
