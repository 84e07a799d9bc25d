#pragma once
// The processor time that trainers on devices take of their host, spent by threads of its own kind.

#include <atomic>
#include <thread>
#include <vector>

namespace feedrate::loader {

/// Threads that compute as long as they are told to, and else sleep: what the threads of further
/// devices do beside the consumer's own. add() may be called from any thread.
class EmulatedHost {
 public:
  explicit EmulatedHost(unsigned threads);
  ~EmulatedHost();
  EmulatedHost(const EmulatedHost&) = delete;
  EmulatedHost& operator=(const EmulatedHost&) = delete;

  /// Each of the threads has to compute so many seconds more.
  void add(double seconds);

 private:
  void work(std::atomic<double>& left);

  std::vector<std::atomic<double>> left_;  // seconds, of each thread
  std::atomic<bool> ended_ = false;
  std::vector<std::thread> threads_;
};

/// Processor time of the calling thread so far, in seconds.
double thread_seconds();

}  // namespace feedrate::loader
