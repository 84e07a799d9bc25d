#pragma once
// Which library multiplies, and in which precision. The choice depends on the layer's shape, the
// rank's batch size and the kind of processor, never on timings, so that the same network and batch
// size always give the same bits on the same machine. Safe from any thread.

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/product_table.h"

namespace feedrate::trainer::cpu {

/// Whether oneDNN computes the site's convolution in fp32 faster than matrix products do.
bool suits_onednn(const LayerSite& site, const ProductLimits& limits = product_limits());

/// Whether the factors of the site's node may be rounded to bf16: those of convolutions and of all
/// but narrow dense layers. Narrow ones end networks; with them rounded, steps differed from
/// PyTorch's by 8 %.
bool may_round(const LayerSite& site);

/// Whether the site's node may be rounded and is then faster on a processor with avx512_bf16.
bool gains_by_bf16(const LayerSite& site, const ProductLimits& limits = product_limits());

}  // namespace feedrate::trainer::cpu
