#pragma once
// Counts the threads at work at once. The first ones wait for one another, so that all that exist
// are seen together however busy the machine is.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace feedrate::testing {

class Gathering {
 public:
  /// Counts anew, and lets threads wait until `expected` are at work at once.
  void expect(unsigned expected) {
    const std::lock_guard lock(mutex_);
    expected_ = expected;
    peak_ = 0;
  }

  /// A piece of work of some hundred microseconds. Any thread.
  void work() {
    using namespace std::chrono_literals;
    {
      std::unique_lock lock(mutex_);
      peak_ = std::max(peak_, ++working_);
      gathered_.notify_all();
      if (!gathered_.wait_for(lock, 30s, [&] { return peak_ >= expected_; })) expected_ = 0;
    }
    std::this_thread::sleep_for(500us);
    const std::lock_guard lock(mutex_);
    --working_;
  }

  /// The most threads at work at once since expect().
  unsigned peak() {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable gathered_;
  unsigned expected_ = 0;
  unsigned working_ = 0;
  unsigned peak_ = 0;
};

}  // namespace feedrate::testing
