#pragma once
// One pass over the indices of a dataset, in threads of its own.

#include <cstdint>
#include <functional>

namespace feedrate::formats {

/// Called from one thread at a time; must not throw.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Indices begin … end - 1; `worker` (0 … threads - 1) tells whose memory to use.
using SweepWork = std::function<void(unsigned worker, std::uint64_t begin, std::uint64_t end)>;

/// Calls `work` for runs that cover 0 … count - 1 once, handed out in order to at most `threads`
/// (≥ 1) threads. What `work` throws ends the sweep and is thrown here: of several, that of the
/// earliest run, so that every number of threads tells the same.
void sweep(std::uint64_t count, unsigned threads, const SweepWork& work,
           const ProgressCallback& progress = {});

}  // namespace feedrate::formats
