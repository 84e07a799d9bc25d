#pragma once
// A barrier for processes that share memory. Zeroed memory is a barrier that no process has
// reached. A process that has waited for a minute exits, since the others must have died.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace feedrate::testing {

struct SharedBarrier {
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> round;

  /// Returns early once `given_up` is set.
  void wait(std::uint32_t all, const std::atomic<bool>* given_up = nullptr) {
    const std::uint32_t mine = round.load();
    if (arrived.fetch_add(1) + 1 == all) {
      arrived.store(0);
      round.store(mine + 1);
      return;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (round.load() == mine) {
      if (given_up != nullptr && given_up->load()) return;
      if (std::chrono::steady_clock::now() > until) {
        std::fputs("the other ranks do not come\n", stderr);
        _exit(3);
      }
      usleep(50);
    }
  }
};

}  // namespace feedrate::testing
