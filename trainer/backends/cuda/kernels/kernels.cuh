#pragma once
// The few shapes of kernel from which layers are made. This file says only how threads share the
// work; the maths is in headers that the CPU uses too. Offsets into tensors are 64-bit.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned warp_threads = 32;
inline constexpr std::int64_t max_grid_y = 65535;
/// For a grid-stride loop: enough blocks to fill the device several times over.
inline constexpr unsigned blocks_per_multiprocessor = 16;

/// Every kernel calls it before anything else, because it may have started while the kernel before
/// it still ran: waits for the end of that one, and lets the next kernel start early, too. Since
/// all wait, a kernel that has begun comes after all that was queued before it.
__device__ inline void begin_kernel() {
#if !defined(__CUDACC__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Whether begin_kernel() waits on the devices on which kernels may start early. If the code was
/// compiled only for older devices, it lacks the wait, and a driver can still run it on newer ones.
#ifdef __CUDA_ARCH_LIST__
inline constexpr bool kernels_wait = std::max({__CUDA_ARCH_LIST__}) >= 900;
#else
inline constexpr bool kernels_wait = true;  // in emulation
#endif

/// Launches a kernel that calls begin_kernel().
template <class... Parameters, class... Arguments>
void launch(const Context& context, const char* name, void (*kernel)(Parameters...), dim3 blocks,
            unsigned threads, Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  const Context::KernelPlace place = context.next_kernel();
  config.stream = place.stream;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = kernels_wait && place.starts_early ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

/// to[i] = from[i] on the device.
template <class T>
void copy_values(const Context& context, std::int64_t count, const T* from, T* to) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                        cudaMemcpyDeviceToDevice, context.compute()),
        "cudaMemcpyAsync");
}

/// Blocks for `threads` in all, but no more than a grid-stride loop needs; `threads` > 0.
inline unsigned blocks_for(const Context& context, std::int64_t threads) {
  const std::int64_t max_blocks =
      std::int64_t{context.multiprocessors()} * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::min((threads + block_threads - 1) / block_threads, max_blocks));
}

template <class T, class Body, class... In>
__global__ void map_kernel(std::int64_t count, T* out, Body body, const In*... ins) {
  begin_kernel();
  if constexpr (requires { body.prepare(); }) body.prepare();
  constexpr unsigned full = full_lanes<T>;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t whole = count / full;
  for (std::int64_t q = first; q < whole; q += stride) {
    const std::int64_t i = q * full;
    const auto combine = [&](const auto&... lanes) {
      Lanes<T, full> result;
      for (unsigned k = 0; k < full; ++k) result.values[k] = body(i + k, lanes.values[k]...);
      return result;
    };
    store(out + i, combine(load<In, full>(ins + i)...));
  }
  for (std::int64_t i = whole * full + first; i < count; i += stride) {
    out[i] = static_cast<T>(body(i, static_cast<float>(ins[i])...));
  }
}

/// out[i] = body(i, ins[i]…). `out` may be one of `ins`; all are aligned to 16 bytes. If the body
/// has a prepare(), each thread calls it once before its values.
template <class T, class Body, class... In>
void map(const Context& context, const char* name, std::int64_t count, T* out, Body body,
         const In*... ins) {
  static_assert(((sizeof(In) == sizeof(T)) && ...));
  launch(context, name, map_kernel<T, Body, In...>,
         blocks_for(context, (count + full_lanes<T> - 1) / full_lanes<T>), block_threads, count,
         out, body, ins...);
}

template <class From, class To>
__global__ void convert_kernel(std::int64_t count, const From* from, To* to) {
  begin_kernel();
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = static_cast<To>(static_cast<float>(from[i]));
  }
}

/// to[i] = from[i], converted to another type.
template <class From, class To>
void convert(const Context& context, const char* name, std::int64_t count, const From* from,
             To* to) {
  launch(context, name, convert_kernel<From, To>, blocks_for(context, count), block_threads, count,
         from, to);
}

template <class Body>
__global__ void images_kernel(std::int64_t images, std::uint32_t elements, std::uint32_t lanes,
                              Body body) {
  begin_kernel();
  if constexpr (requires { body.prepare(); }) body.prepare();
  const std::uint32_t stride = gridDim.x * blockDim.x * lanes;
  for (std::int64_t image = blockIdx.y; image < images; image += gridDim.y) {
    for (std::uint32_t e = (blockIdx.x * blockDim.x + threadIdx.x) * lanes; e < elements;
         e += stride) {
      body(image, e);
    }
  }
}

/// Calls body(image, element) for every `lanes`-th element of every image; prepare() as above.
/// `elements` is below 2^31 and a multiple of `lanes`. Index maths within an image is 32-bit, which
/// divides several times faster.
template <class Body>
void each_of_images(const Context& context, const char* name, std::int64_t images,
                    std::int64_t elements, Body body, unsigned lanes = 1) {
  const dim3 blocks(blocks_for(context, elements / lanes),
                    static_cast<unsigned>(std::min(images, max_grid_y)));
  launch(context, name, images_kernel<Body>, blocks, block_threads, images,
         static_cast<std::uint32_t>(elements), lanes, body);
}

/// number / divisor, where number ≥ 0: in 32 bits if it fits, which divides several times faster.
__device__ inline std::int64_t quotient(std::int64_t number, std::uint32_t divisor) {
  if (number >> 32 == 0) return static_cast<std::uint32_t>(number) / divisor;
  return number / divisor;
}

/// How many channels of T a thread takes at once: 16 bytes of them if `channels` is a multiple of
/// that, else 1.
template <class T>
constexpr unsigned lanes_of(std::int64_t channels) {
  return channels % full_lanes<T> == 0 ? full_lanes<T> : 1;
}
/// Calls body(lanes_of<T>(channels)), with a constant.
template <class T, class Body>
void with_lanes(std::int64_t channels, const Body& body) {
  if (lanes_of<T>(channels) != 1) {
    return body(std::integral_constant<unsigned, full_lanes<T>>{});
  }
  body(std::integral_constant<unsigned, 1>{});
}

/// The sum over the 32 threads of a warp, in a fixed order; each of them gets it. All must call.
template <class T>
__device__ T warp_sum(T value) {
  for (unsigned lane = warp_threads / 2; lane > 0; lane /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, lane);
  }
  return value;
}

/// The sum over the threads of a block, in a fixed order; thread 0 gets it. `threads` is
/// blockDim.x, a power of two. All threads must call, with a barrier between two calls for the same
/// T.
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

}  // namespace feedrate::trainer::cuda
