#pragma once
// The interface between the program and the MPI plug-in. It is plain C, so that the plug-in needs
// none of our code and the program starts without MPI. If MPI fails, every function ends the job,
// which is MPI's default.

#include <cstddef>
#include <cstdint>

extern "C" {

struct FeedrateMpi {
  unsigned rank, ranks;
  void (*begin_sum)(float* values, std::size_t count);
  void (*progress)();
  void (*finish)();
  void (*sum)(double* values, std::size_t count);
  void (*broadcast)(std::byte* bytes, std::size_t count);
  /// On rank 0: answers the ranks that wait in add_to_counter(); wait_for_all() does, too.
  void (*answer_others)();
  /// Adds to a counter on rank 0, which starts at 0, and returns what it was.
  std::uint64_t (*add_to_counter)(std::uint64_t step);
  void (*wait_for_all)();
  void (*close)();
};

/// Initialises MPI once. Returns null if that fails.
using FeedrateMpiEntry = const FeedrateMpi* (*)();
}

namespace feedrate::trainer {
inline constexpr const char* mpi_entry_name = "feedrate_mpi";
inline constexpr const char* mpi_plugin_file = "libfeedrate_mpi.so";
}  // namespace feedrate::trainer
