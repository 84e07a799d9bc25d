#pragma once
// What `feedrate load` shows while it measures.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "loader/loader.h"
#include "tools/console/console.h"
#include "tools/lab/logs/logs.h"

namespace feedrate::tools {

/// Shows and logs the progress of `loader` while the calling thread drives it.
class LoadWatch {
 public:
  LoadWatch(const loader::Loader& loader, std::uint64_t total, Logs& logs)
      : progress_("load", "images"),
        thread_([this, &loader, total, &logs](const std::stop_token& stop) {
          try {
            watch(stop, loader, total, logs);
          } catch (const std::exception&) {
            failure_ = std::current_exception();
          }
        }) {}
  /// Stops. Throws Error if a log could not be written.
  void end() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void watch(const std::stop_token& stop, const loader::Loader& loader, std::uint64_t total,
             Logs& logs) {
    std::unique_lock lock(mutex_);
    for (bool last = false; !last;) {
      wake_.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
      last = stop.stop_requested();
      const loader::LoaderStats stats = loader.stats();
      progress_.update(stats.images, total);
      logs.progress(fields_of(stats));
    }
  }

  Progress progress_;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: joined before the other members are destroyed
};

}  // namespace feedrate::tools
