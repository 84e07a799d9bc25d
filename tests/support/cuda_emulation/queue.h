#pragma once
// Streams that run as late as CUDA allows: work stays in its queue until somebody waits for it.
// Memory that is read too early or reused without waiting gives wrong numbers in every run instead
// of one in a thousand. While a stream is captured, its work is recorded with its current
// arguments, and calls that CUDA forbids during capture fail.
//
// A rank whose host waits for another rank does no work meanwhile, as a real device would: with
// FEEDRATE_EMULATED_STREAMS=early work runs as soon as it is queued.
//
// The branches of a graph run as late as possible, too, or, with FEEDRATE_EMULATED_BRANCHES=early, as
// early. FEEDRATE_EMULATED_LOST_WAIT=n forgets the n-th wait of the first stream of a graph for
// another one, as if nobody had asked for it.

#include <cuda_runtime_api.h>

#include <functional>

#include "counts.h"

namespace feedrate::emulation {

using Work = std::function<void()>;

/// `starts_early`: a kernel that starts before the work in front of it has ended.
cudaError_t enqueue(cudaStream_t stream, Work work, bool starts_early = false);

/// Runs a kernel that started early. It runs `before` when it waits for it, and else only after it.
void run_early(const Work& kernel, Work before);

/// For calls that CUDA forbids to a thread that captures: whether the call may continue. If not,
/// the capture is invalidated, and the call must return this result.
cudaError_t forbidden_in_capture();

bool captured(cudaStream_t stream);

EmulatedCounts& counts();

/// Bytes of allocated memory from this address on; 0 if it is not device or pinned memory.
std::size_t room_at(const void* memory);

/// Advances the device's clock, which timed events read, as running work does.
void pass(double milliseconds);
/// What a kernel, a product or a copy takes.
inline constexpr double launch_milliseconds = 1e-3;
/// What an event takes that reads the clock: a moment, which no sum of kernels' times shows, so that
/// two events in a row are never at the same time, as on a real device.
inline constexpr double event_milliseconds = 1e-9;

}  // namespace feedrate::emulation
