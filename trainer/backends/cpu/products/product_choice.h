#pragma once
// Which library multiplies, and in which precision. The choice depends on the layer's shape and the
// rank's batch size, never on timings or the machine, so that the same network and batch size
// always give the same bits. Safe from any thread.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

/// Whether oneDNN computes the site's convolution in fp32 faster than matrix products do.
bool suits_onednn(const LayerSite& site);

/// Whether the factors of the site's node may be rounded to bf16: those of convolutions and of all
/// but narrow dense layers. Narrow ones end networks; with them rounded, steps differed from
/// PyTorch's by 8 %.
bool may_round(const LayerSite& site);

/// Whether the site's node may be rounded and is then faster on a processor with avx512_bf16
/// (measured on Zen 5).
bool gains_by_bf16(const LayerSite& site);

}  // namespace feedrate::trainer::cpu
