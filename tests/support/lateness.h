#pragma once
// Whether the machine was quiet during a timed test: programs that take the cores make threads wake
// late, and no rate that was measured meanwhile says anything.

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>

namespace feedrate::testing {

/// Half of the shortest sleep in timed tests.
inline constexpr std::chrono::duration<double, std::milli> tolerated_lateness{1};

/// Wakes every millisecond and records how late: what the threads that are measured suffer, too.
class Lateness {
 public:
  using Milliseconds = std::chrono::duration<double, std::milli>;

  Lateness() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// Ends the watch. The latest wake-up.
  Milliseconds ended() {
    thread_.request_stop();
    thread_.join();
    return latest_;
  }

 private:
  void watch(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    while (!stop.stop_requested()) {
      const Clock::time_point due = Clock::now() + std::chrono::milliseconds(1);
      std::this_thread::sleep_until(due);
      latest_ = std::max(latest_, Milliseconds(Clock::now() - due));
    }
  }

  Milliseconds latest_{};
  std::jthread thread_;
};

}  // namespace feedrate::testing
