#pragma once
// A residual sum: by itself, or with the norms before it and the relu behind it.

#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {

std::unique_ptr<Layer> make_sum_layer(const LayerSite& site);
/// For a site with a block_end.
std::unique_ptr<Layer> make_block_end_layer(const LayerSite& site);

}  // namespace feedrate::trainer::cuda
