#pragma once
// The program's side of the MPI plug-in.

#include <memory>

#include "trainer/communicators/communicator.h"

namespace feedrate::trainer {

/// Whether a launcher started this process as one of several: it says so in the environment.
bool launched_with_others();
/// Loads the plug-in and joins the others. Throws Error when there is no plug-in or no MPI.
std::unique_ptr<Communicator> join_mpi();

}  // namespace feedrate::trainer
