#pragma once
// The program's side of the MPI plug-in.

#include <memory>

#include "trainer/communicators/communicator.h"

namespace feedrate::trainer {

/// Loads the plug-in and joins the other ranks. Throws Error if the plug-in or MPI is missing.
std::unique_ptr<Communicator> join_mpi();

}  // namespace feedrate::trainer
