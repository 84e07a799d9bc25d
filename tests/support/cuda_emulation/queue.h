#pragma once
// Streams as late as CUDA allows: work waits in its queue until somebody waits for it. What is read
// too early, or reused without waiting, gives wrong numbers in every run instead of one in a
// thousand. While a stream is captured its work is recorded instead, with the arguments of then,
// and what CUDA refuses meanwhile is refused.

#include <cuda_runtime_api.h>

#include <functional>

#include "counts.h"

namespace feedrate::emulation {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// Whether a call that CUDA forbids to a thread that captures may go on; if not, the capture is
/// lost, and this is the call's result.
cudaError_t forbidden_in_capture();

bool captured(cudaStream_t stream);

EmulatedCounts& counts();

/// Bytes of allocated memory from there on; 0 of what is no device's or pinned memory.
std::size_t room_at(const void* memory);

/// Lets the device's clock go on, as work that is being done does: what timed events read.
void pass(double milliseconds);

}  // namespace feedrate::emulation
