#pragma once
// What the program and the MPI plug-in agree on: C alone, so that the plug-in needs nothing of ours
// and the program starts where there is no MPI. Every function ends the job when MPI fails, which
// is what MPI does unless told otherwise.

#include <cstddef>

extern "C" {

struct FeedrateMpi {
  unsigned rank, ranks;
  void (*begin_sum)(float* values, std::size_t count);
  void (*progress)();
  void (*finish)();
  void (*sum)(double* values, std::size_t count);
  void (*close)();
};

/// Initialises MPI, once. Null when it cannot be.
using FeedrateMpiEntry = const FeedrateMpi* (*)();
}

namespace feedrate::trainer {
inline constexpr const char* mpi_entry_name = "feedrate_mpi";
inline constexpr const char* mpi_plugin_file = "libfeedrate_mpi.so";
}  // namespace feedrate::trainer
