#pragma once
// CUDA's kernel language as plain C++, for one processor: included before every .cu file of the
// emulated plug-in. The threads of a block are fibers that switch at barriers; a barrier that not
// all of them reach aborts with a message.

#include <cuda_runtime_api.h>
#include <math.h>

#include <cstddef>
#include <functional>

#undef __global__
#undef __device__
#undef __shared__
#define __global__
#define __device__
#define __shared__ static  // blocks run one after the other

namespace feedrate::emulation {

cudaError_t launch(dim3 blocks, dim3 threads, cudaStream_t stream, std::function<void()> thread);
enum class Barrier { block, warp };
void wait_at(Barrier barrier);
/// Gives `bytes` at `mine` to the warp and takes those of lane ^ mask.
void exchange(const void* mine, void* theirs, std::size_t bytes, unsigned mask);

}  // namespace feedrate::emulation

extern dim3 gridDim;
extern dim3 blockDim;
extern dim3 blockIdx;
extern dim3 threadIdx;

inline void __syncthreads() { feedrate::emulation::wait_at(feedrate::emulation::Barrier::block); }
inline void __syncwarp() { feedrate::emulation::wait_at(feedrate::emulation::Barrier::warp); }

inline void __threadfence() {}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
inline unsigned atomicAdd(unsigned* to, unsigned value) {
  const unsigned before = *to;
  *to += value;
  return before;
}

template <class T>
T __shfl_xor_sync(unsigned, T mine, unsigned mask) {
  T theirs{};
  feedrate::emulation::exchange(&mine, &theirs, sizeof(T), mask);
  return theirs;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  if (config->gridDim.x == 0 || config->gridDim.y == 0 || config->gridDim.y > 65535 ||
      config->blockDim.x == 0 || config->blockDim.x > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  return feedrate::emulation::launch(config->gridDim, config->blockDim, config->stream,
                                     [=] { kernel(static_cast<Parameters>(arguments)...); });
}
