#pragma once
// Where threads sleep until a condition holds that other threads change.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace feedrate::loader::detail {

/// A condition variable whose wake() costs one load while no thread sleeps.
///
/// `ready` must read sequentially consistent atomics, which the waking side stores before wake():
/// then either the sleeper sees the store or wake() sees the sleeper.
class Gate {
 public:
  template <class Ready>
  void wait(Ready ready) {
    // Often the thread waited for only lacks a core: yielding this one is cheaper than sleeping and
    // being woken.
    std::this_thread::yield();
    if (ready()) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, ready);
    sleepers_.fetch_sub(1);
  }

  /// The same, but for `limit` at most. Returns whether `ready`.
  template <class Ready>
  bool wait_for(std::chrono::nanoseconds limit, Ready ready) {
    std::this_thread::yield();
    if (ready()) return true;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    const bool done = changed_.wait_for(lock, limit, ready);
    sleepers_.fetch_sub(1);
    return done;
  }

  /// Wakes up to `count` sleepers.
  void wake(unsigned count) {
    const unsigned sleepers = sleepers_.load();
    if (sleepers == 0) return;
    // A sleeper holds the mutex from its last check of `ready` until it sleeps.
    { const std::lock_guard lock(mutex_); }
    if (count >= sleepers) {
      changed_.notify_all();
    } else {
      while (count-- > 0) changed_.notify_one();
    }
  }

 private:
  std::atomic<unsigned> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace feedrate::loader::detail
