#pragma once
// Reads ahead of the workers. The order is known, so samples are requested from the system before a
// worker waits for them: a disk that serves one request at a time reaches a tenth of its rate.
//
//      given back     in use      filled and filling      free        requested only
//   ──────────────┬────────┬────────────────────────┬─────────────┬────────────────────┐
//                                                claimed         open                horizon
//                                                   └── requested: always ahead of the workers

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "loader/engine/chunk_order.h"
#include "loader/engine/gate.h"

namespace feedrate::loader::detail {

/// Threads of its own, outside the workers' arenas, which mostly wait for the disk. When the data
/// turn out to be in memory they sleep, and check again twenty times a second. A dataset whose
/// look_ahead() returns false gets no thread.
class LookAhead {
 public:
  /// `claimed` and `open` count chunks, as in Engine.
  LookAhead(const Job& job, const Plan& plan, unsigned threads,
            const std::atomic<std::uint64_t>& claimed, const std::atomic<std::uint64_t>& open);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  /// To be called when `open` has risen. Consumer thread.
  void wake() { room_.wake(1); }
  /// Samples requested so far. Any thread.
  std::uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }

 private:
  void end();
  void work_while_there_is_memory(const std::stop_token& stop);
  void work(const std::stop_token& stop);
  std::optional<std::uint64_t> next_chunk(const std::stop_token& stop);
  std::optional<std::uint64_t> farthest_chunk() const;
  bool request(ChunkOrder& order, std::uint64_t number);
  void pause(const std::stop_token& stop);
  std::uint64_t horizon() const;

  const Job& job_;
  const Plan& plan_;
  const std::atomic<std::uint64_t>& claimed_;
  const std::atomic<std::uint64_t>& open_;
  const bool remote_;                   // what is asked for comes from a server, each time
  const std::uint64_t chunks_beyond_;   // from open_ to the horizon
  std::atomic<std::uint64_t> next_{0};  // the next chunk to request
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<bool> stopped_{false};
  Gate room_;  // threads wait here for the horizon to move
  std::mutex pause_mutex_;
  std::condition_variable_any pause_;
  std::vector<std::jthread> threads_;
};

}  // namespace feedrate::loader::detail
