#pragma once
// The program's side of the MPI plug-in.

#include <memory>

#include "trainer/communicators/communicator.h"

namespace feedrate::trainer {

/// Whether the environment says that a launcher started this process as one of several.
bool launched_with_others();
/// Loads the plug-in and joins the other processes. Throws Error without a plug-in or MPI.
std::unique_ptr<Communicator> join_mpi();

}  // namespace feedrate::trainer
