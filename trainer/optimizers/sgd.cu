// SGD over the whole flat buffer in one launch.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/parameters.cuh"
#include "trainer/optimizers/sgd.h"

namespace feedrate::cuda {
namespace {

__global__ void sgd_kernel(const ParameterChunk* chunks, float* values, const float* gradients,
                           float* velocities, UpdateSettings settings) {
  const ParameterChunk chunk = chunks[blockIdx.x];
  const float rate = static_cast<float>(settings.rate * chunk.rate_scale);
  const float momentum = static_cast<float>(settings.momentum);
  const float decay = static_cast<float>(settings.decay * chunk.decay_scale);
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const std::int64_t at = chunk.begin + i;
    sgd_update(values[at], gradients[at], velocities[at], rate, momentum, decay);
  }
}

}  // namespace

void sgd_cuda(const Context& context, const FlatParameters& flat, const UpdateSettings& settings) {
  launch(context, "sgd", sgd_kernel, flat.chunk_count(), block_threads, flat.chunks(),
         flat.values(), flat.gradients(), flat.state(0), settings);
}

}  // namespace feedrate::cuda
