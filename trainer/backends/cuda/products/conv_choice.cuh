#pragma once
// Chooses the cuDNN engine of a convolution: the fastest of those that keep our promises, measured
// on random values once for each shape, and stored at once (algorithm_cache.cuh). If nothing can be
// stored, the first that is expected to be fast is used, because measurements would choose
// differently from run to run. Engines that cuDNN offers but cannot build or run are skipped. Where
// all that are expected to be fast need too much workspace, the batch is split into ever more parts
// until one fits.

#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/conv_call.cuh"

namespace feedrate::trainer::cuda {

/// All ranks get the first rank's engine. Throws Error, which names the node, if no engine works
/// within Context::workspace_limit(), or if a rank lacks the engine that the first has chosen.
ConvCall choose_engine(const LayerSite& site, const ConvShape& shape, ConvDirection direction);

}  // namespace feedrate::trainer::cuda
