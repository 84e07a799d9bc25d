#pragma once
// The program's side of the MPI plug-in.

#include <memory>

#include "trainer/communicators/communicator.h"

namespace feedrate::trainer {

/// Whether a launcher's environment variables say that this process is one of several.
bool launched_with_others();
/// Loads the plug-in and joins the other ranks. Throws Error if the plug-in or MPI is missing.
std::unique_ptr<Communicator> join_mpi();

}  // namespace feedrate::trainer
