#include "formats/base/sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/lost_pages.h"
#include "formats/base/stop.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t max_run = 256;  // enough that handing it out costs nothing
// So that no worker waits long for the last run.
constexpr std::uint64_t min_runs_per_worker = 8;

class Sweep {
 public:
  Sweep(std::uint64_t count, unsigned threads, const SweepWork& work,
        const ProgressCallback& progress)
      : count_(count),
        run_(std::clamp<std::uint64_t>(count / (min_runs_per_worker * threads), 1, max_run)),
        work_(work),
        progress_(progress) {}

  void run(unsigned worker) {
    while (!stopped_) {
      const std::uint64_t begin = next_.fetch_add(run_);
      const std::uint64_t end = std::min(begin + run_, count_);
      if (begin >= end) return;
      try {
        throw_if_stop_requested();
        work_(worker, begin, end);
        if (const std::string lost = lost_pages_of_thread(); !lost.empty()) throw Error(lost);
        report(end - begin);
      } catch (...) {
        keep_error(begin);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void report(std::uint64_t samples) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    done_ += samples;
    progress_(done_, count_);
  }

  void keep_error(std::uint64_t begin) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (error_ && failed_ < begin) return;
    failed_ = begin;
    error_ = std::current_exception();
  }

  const std::uint64_t count_;
  const std::uint64_t run_;
  const SweepWork& work_;
  const ProgressCallback& progress_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // guards what follows
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void sweep(std::uint64_t count, unsigned threads, const SweepWork& work,
           const ProgressCallback& progress) {
  Sweep state(count, threads, work, progress);
  {
    std::vector<std::jthread> helpers;
    for (unsigned worker = 1; worker < threads; ++worker) {
      helpers.emplace_back([&state, worker] { state.run(worker); });
    }
    state.run(0);
  }
  state.rethrow();
}

}  // namespace feedrate::formats
