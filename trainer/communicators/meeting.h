#pragma once
// How processes find each other that environment variables alone connect.

#include <chrono>
#include <functional>
#include <optional>

#include "trainer/communicators/sockets.h"

namespace feedrate::trainer {

struct Meeting {
  unsigned rank = 0;
  unsigned ranks = 1;
  Address first;                       // where rank 0 listens
  std::chrono::seconds patience{120};  // until all are there
};

/// The meeting that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT describe; nothing for one rank.
/// `variable(name)` may be null. Where torchrun itself listens at MASTER_PORT
/// (TORCHELASTIC_USE_AGENT_STORE), rank 0 listens at the next port. Throws Error naming the
/// variable that is missing or wrong.
std::optional<Meeting> meeting_in(const std::function<const char*(const char* name)>& variable);

}  // namespace feedrate::trainer
