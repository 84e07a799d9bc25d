#pragma once
// Ranks that environment variables alone connect, as torchrun and its like start them.
//
// Every rank connects to rank 0, which tells each where the next one listens; they form a ring, in
// which sums travel. The connections to rank 0 stay: when one ends early, rank 0 tells the others
// whose it was. No rank proves who it is: as with torch.distributed, the network must be trusted.

#include <memory>

#include "trainer/communicators/communicator.h"
#include "trainer/communicators/meeting.h"

namespace feedrate::trainer {

/// Joins the other ranks. Throws Error naming those that did not come.
std::unique_ptr<Communicator> join_tcp(const Meeting& meeting);

}  // namespace feedrate::trainer
