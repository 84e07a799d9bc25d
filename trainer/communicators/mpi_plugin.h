#pragma once
// The interface between the program and the MPI plug-in. It is plain C, so that the plug-in links
// none of our libraries and the program starts without MPI. If MPI fails, it ends the job: MPI's
// default error handler does so.

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

/// Initialises MPI on the first call. Null when that fails.
using FeedrateMpiEntry = const FeedrateMpi* (*)();
}

namespace feedrate::trainer {
inline constexpr const char* mpi_entry_name = "feedrate_mpi";
inline constexpr const char* mpi_plugin_file = "libfeedrate_mpi.so";
}  // namespace feedrate::trainer
