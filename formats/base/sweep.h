#pragma once
// One parallel pass over the indices of a dataset, in threads of its own.

#include <cstdint>
#include <functional>

namespace feedrate::formats {

/// Called from one thread at a time; must not throw.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Works on the indices begin … end - 1; `worker` (0 … threads - 1) identifies the thread's memory.
using SweepWork = std::function<void(unsigned worker, std::uint64_t begin, std::uint64_t end)>;

/// Calls `work` for runs that together cover 0 … count - 1 once, handed out in order to at most
/// `threads` (≥ 1) threads. An exception from `work` ends the sweep and is rethrown; of several,
/// the earliest run's, so that any number of threads reports the same one. Throws Stopped between two
/// runs (formats/base/stop.h).
void sweep(std::uint64_t count, unsigned threads, const SweepWork& work,
           const ProgressCallback& progress = {});

}  // namespace feedrate::formats
