#pragma once
// Reads ahead of the workers. The order is known, so the system is asked for what will be read
// before a worker waits for it: a disk that is asked for one record after the other does a tenth of
// what it can do.
//
//      given back     in use      filled and filling      free        only asked for
//   ──────────────┬────────┬────────────────────────┬─────────────┬────────────────────┐
//                                                claimed         open                horizon
//                                                   └── asked for: always ahead of the workers

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "loader/engine/gate.h"
#include "loader/engine/run_order.h"

namespace feedrate::loader::detail {

/// Threads of its own, outside the workers' arenas: they mostly wait for the disk. Where data turns
/// out to be in memory they sleep, and look again twenty times a second. A dataset that has nothing
/// to ask for gets none.
class LookAhead {
 public:
  /// `claimed` and `open` count runs, as Engine does.
  LookAhead(const Job& job, const Plan& plan, unsigned threads,
            const std::atomic<std::uint64_t>& claimed, const std::atomic<std::uint64_t>& open);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  /// `open` has risen. The consumer's thread.
  void wake() { room_.wake(1); }
  /// Samples asked for so far. Any thread.
  std::uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }

 private:
  void work(const std::stop_token& stop);
  std::optional<std::uint64_t> next_run(const std::stop_token& stop);
  std::optional<std::uint64_t> far_run() const;
  bool ask(RunOrder& order, std::uint64_t number);
  void rest(const std::stop_token& stop);
  std::uint64_t horizon() const;

  const Job& job_;
  const Plan& plan_;
  const std::atomic<std::uint64_t>& claimed_;
  const std::atomic<std::uint64_t>& open_;
  const std::uint64_t runs_beyond_;   // what is open
  std::atomic<std::uint64_t> at_{0};  // the next run to ask for
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<bool> stopped_{false};
  Gate room_;  // waiting for the horizon to move
  std::mutex resting_;
  std::condition_variable_any rested_;
  std::vector<std::jthread> threads_;
};

}  // namespace feedrate::loader::detail
