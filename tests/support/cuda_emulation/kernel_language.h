#pragma once
// CUDA's kernel language as plain C++, for one processor: included before every .cu file of the
// emulated plug-in. The threads of a block are fibers that switch at barriers; a barrier that not
// all of them reach aborts with a message. Blocks run as FEEDRATE_EMULATED_ORDER says: one after the
// other, or "interleaved" (blocks.h).

#include <cuda_runtime_api.h>
#include <math.h>

#include <cstddef>
#include <functional>

#undef __global__
#undef __device__
#undef __shared__
#define __global__
#define __device__
#define __shared__ static thread_local  // blocks in flight are on different threads of the host

namespace feedrate::emulation {

/// A kernel that `starts_early` runs until it waits for the one before it, which runs only then.
cudaError_t launch(dim3 blocks, dim3 threads, cudaStream_t stream, std::function<void()> thread,
                   bool starts_early = false);
/// Runs the work before the kernel of this thread, unless it has run already.
void wait_for_work_before();
enum class Barrier { block, warp };
void wait_at(Barrier barrier);
/// Gives `bytes` at `mine` to the warp and takes those of lane ^ mask.
void exchange(const void* mine, void* theirs, std::size_t bytes, unsigned mask);
/// A point at which other blocks may overtake this one.
void let_others_run();
/// A bit for each lane of the warp: whether it is `mine`. Lanes that have ended have 0.
unsigned ballot(bool mine);

}  // namespace feedrate::emulation

extern constinit thread_local dim3 gridDim;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 blockIdx;
extern constinit thread_local dim3 threadIdx;

inline void __syncthreads() { feedrate::emulation::wait_at(feedrate::emulation::Barrier::block); }
inline void __syncwarp() { feedrate::emulation::wait_at(feedrate::emulation::Barrier::warp); }

inline void cudaGridDependencySynchronize() { feedrate::emulation::wait_for_work_before(); }
inline void cudaTriggerProgrammaticLaunchCompletion() {}  // any kernel may be followed at once

inline void __threadfence() { feedrate::emulation::let_others_run(); }
template <class T>
T __ldcg(const T* from) {
  return *from;
}
inline unsigned atomicAdd(unsigned* to, unsigned value) {
  feedrate::emulation::let_others_run();
  const unsigned before = *to;
  *to += value;
  feedrate::emulation::let_others_run();
  return before;
}

template <class T>
T __shfl_xor_sync(unsigned, T mine, unsigned mask) {
  T theirs{};
  feedrate::emulation::exchange(&mine, &theirs, sizeof(T), mask);
  return theirs;
}

inline unsigned __ballot_sync(unsigned, bool mine) { return feedrate::emulation::ballot(mine); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  if (config->gridDim.x == 0 || config->gridDim.y == 0 || config->gridDim.y > 65535 ||
      config->blockDim.x == 0 || config->blockDim.x > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  bool starts_early = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& set = config->attrs[i];
    if (set.id != cudaLaunchAttributeProgrammaticStreamSerialization) return cudaErrorInvalidValue;
    starts_early |= set.val.programmaticStreamSerializationAllowed != 0;
  }
  return feedrate::emulation::launch(
      config->gridDim, config->blockDim, config->stream,
      [=] { kernel(static_cast<Parameters>(arguments)...); }, starts_early);
}
