#pragma once
// Streams as late as CUDA allows: work waits in its queue until somebody waits for it. What is read
// too early, or reused without waiting, gives wrong numbers in every run instead of one in a
// thousand.

#include <cuda_runtime_api.h>

#include <functional>

namespace feedrate::emulation {

void enqueue(cudaStream_t stream, std::function<void()> work);

}  // namespace feedrate::emulation
