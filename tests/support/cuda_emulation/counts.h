#pragma once
// The counters of the emulated device: feedrate_emulated_counts() of the emulated plug-in.

#include <array>
#include <cstddef>

namespace feedrate {

struct EmulatedCounts {
  std::size_t allocations = 0;                 // of device and of pinned memory
  std::size_t kernels = 0;                     // launched one by one
  std::size_t graphs = 0;                      // launched
  std::size_t captures = 0;                    // that became a graph
  std::size_t recorded = 0;                    // calls in the last captured graph
  std::size_t beside = 0;                      // of these: on branches
  std::size_t early = 0;                       // of these: kernels that start early
  std::size_t refusals = 0;                    // of calls that a capture forbids
  std::size_t polls = 0;                       // of events that had not come
  std::size_t blocks = 0;                      // waits for events that had not come
  std::array<std::size_t, 10> convolutions{};  // run, by the place of the engine in cuDNN's list
};

using EmulatedCountsEntry = const EmulatedCounts* (*)();
inline constexpr const char* emulated_counts_name = "feedrate_emulated_counts";

}  // namespace feedrate
