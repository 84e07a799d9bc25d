#include "trainer/backends/cpu/threads/omp_threads.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace feedrate::trainer::cpu {
namespace {

// A team of OpenMP threads that has run once and sleeps until the program ends.
class SleepingTeam {
 public:
  explicit SleepingTeam(unsigned size) : thread_([this, size] { sleep(size); }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return started_; });
  }
  ~SleepingTeam() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  SleepingTeam(const SleepingTeam&) = delete;
  SleepingTeam& operator=(const SleepingTeam&) = delete;

 private:
  void sleep(unsigned size) {
    std::atomic<unsigned> present = 0;  // cannot be optimised away
#pragma omp parallel num_threads(size)
    ++present;
    std::unique_lock lock(mutex_);
    started_ = present > 0;
    changed_.notify_all();
    changed_.wait(lock, [this] { return done_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false, done_ = false;
  std::thread thread_;
};

}  // namespace

OmpThreads::OmpThreads(unsigned threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(static_cast<int>(threads));
}

OmpThreads::~OmpThreads() { omp_set_num_threads(before_); }

void let_idle_threads_sleep(unsigned threads) {
  if (threads < 2) return;  // there is no team that could wait
  if (std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  // With the caller's team of `threads`, one thread more than there are cores.
  const unsigned cores = static_cast<unsigned>(omp_get_num_procs());
  static const SleepingTeam team(std::max(cores, threads) - threads + 2);
}

}  // namespace feedrate::trainer::cpu
