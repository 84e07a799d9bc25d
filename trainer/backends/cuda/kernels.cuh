#pragma once
// The few shapes of kernel that the ops are made of. Bodies are written once, in headers that the
// CPU runs too; here is only how threads share the work. Offsets into tensors are 64-bit.

#include <algorithm>
#include <cstdint>

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::cuda {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned warp_threads = 32;
inline constexpr std::int64_t max_grid_y = 65535;
/// Blocks of a grid-stride loop: enough to fill the device several times over.
inline constexpr unsigned blocks_per_multiprocessor = 16;

template <class... Parameters, class... Arguments>
void launch(const Context& context, const char* name, void (*kernel)(Parameters...), dim3 blocks,
            unsigned threads, Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.stream = context.compute();
  check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

/// Blocks for `work` threads in all, at most what a grid-stride loop needs; `work` > 0.
inline unsigned blocks_for(const Context& context, std::int64_t work) {
  const std::int64_t most = std::int64_t{context.multiprocessors()} * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::min((work + block_threads - 1) / block_threads, most));
}

template <class Body>
__global__ void map_kernel(std::int64_t count, const float* in, float* out, Body body) {
  if constexpr (requires { body.prepare(); }) body.prepare();
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t quads = count / 4;
  for (std::int64_t q = first; q < quads; q += stride) {
    float4 value = reinterpret_cast<const float4*>(in)[q];
    value.x = body(value.x, 4 * q);
    value.y = body(value.y, 4 * q + 1);
    value.z = body(value.z, 4 * q + 2);
    value.w = body(value.w, 4 * q + 3);
    reinterpret_cast<float4*>(out)[q] = value;
  }
  for (std::int64_t i = 4 * quads + first; i < count; i += stride) out[i] = body(in[i], i);
}

/// out[i] = body(in[i], i). `out` may be `in`; both aligned to 16 bytes. What a body reads once,
/// and not for every value, it reads in prepare(), if it has one.
template <class Body>
void map(const Context& context, const char* name, std::int64_t count, const float* in, float* out,
         Body body) {
  launch(context, name, map_kernel<Body>, blocks_for(context, (count + 3) / 4), block_threads,
         count, in, out, body);
}

template <class Body>
__global__ void images_kernel(std::int64_t images, std::uint32_t elements, Body body) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::int64_t image = blockIdx.y; image < images; image += gridDim.y) {
    for (std::uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < elements; e += stride) {
      body(image, e);
    }
  }
}

/// body(image, element) for every element (< 2^31) of every image. Index maths within an image is
/// 32-bit, which divides several times faster.
template <class Body>
void each_of_images(const Context& context, const char* name, std::int64_t images,
                    std::int64_t elements, Body body) {
  const dim3 blocks(blocks_for(context, elements),
                    static_cast<unsigned>(std::min(images, max_grid_y)));
  launch(context, name, images_kernel<Body>, blocks, block_threads, images,
         static_cast<std::uint32_t>(elements), body);
}

/// Of the 32 lanes, in an order that never changes; every lane gets it. All lanes must call.
template <class T>
__device__ T warp_sum(T value) {
  for (unsigned lane = warp_threads / 2; lane > 0; lane /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, lane);
  }
  return value;
}

/// Of a block's `threads` (a power of two, = blockDim.x) values, in an order that never changes;
/// thread 0 gets it. All threads must call, with a barrier between two calls for one T.
template <unsigned threads, class T>
__device__ T block_sum(T value) {
  __shared__ T values[threads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  return values[0];
}

}  // namespace feedrate::cuda
