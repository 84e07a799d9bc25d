#pragma once
// How the kernels of this folder are launched: the images of a batch are rows of the grid.

#include "trainer/backends/cuda/decode/image_job.cuh"

namespace feedrate::trainer::cuda {

inline constexpr unsigned decode_threads = 256;  // of a block
/// Blocks of an image at most: with a batch they fill any device, and threads go on where they end.
inline constexpr std::uint64_t max_image_blocks = 32;

template <class... Parameters, class... Arguments>
void launch_decode(const char* name, void (*kernel)(Parameters...), cudaStream_t stream,
                   dim3 blocks, unsigned threads, Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

template <class Body>
__global__ void each_item_kernel(JobRange range, DecodeMemory memory, Body body) {
  const unsigned number = range.first + blockIdx.y;
  const ImageJob& job = range.jobs[number];
  if (!job.packed) return;
  const std::uint32_t count = body.items(job);
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    body(job, number, memory, i);
  }
}

/// Calls body(job, image, memory, i) for every i below body.items(job), at most `most`, of every
/// image of the range. Counts are below 2^31.
template <class Body>
void each_item(const char* name, cudaStream_t stream, const JobRange& range,
               const DecodeMemory& memory, std::uint64_t most, Body body) {
  if (most == 0) return;
  const std::uint64_t blocks = (most + decode_threads - 1) / decode_threads;
  const dim3 grid(static_cast<unsigned>(blocks < max_image_blocks ? blocks : max_image_blocks),
                  range.count);
  launch_decode(name, each_item_kernel<Body>, stream, grid, decode_threads, range, memory, body);
}

}  // namespace feedrate::trainer::cuda
