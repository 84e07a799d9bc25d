#pragma once
// The number of OpenMP threads, and how they wait.

namespace feedrate::trainer::cpu {

/// Sets the thread count of callers that set none, on the calling thread, until it is destroyed.
/// oneDNN asks OpenMP how many threads to use, both when a primitive is made and when it runs.
class OmpThreads {
 public:
  explicit OmpThreads(unsigned threads);
  ~OmpThreads();
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

/// Makes waiting OpenMP threads sleep after some microseconds, unless GOMP_SPINCOUNT, which libgomp
/// reads when it is loaded, says how long they spin. Call it before work on `threads` threads;
/// further calls do nothing.
///
/// In libgomp a waiting thread spins for milliseconds, but only for microseconds if all teams
/// together have more threads than there are cores. A library cannot set the environment variables
/// for this, which are read before main(), but it can start a second team that sleeps. Other OpenMP
/// runtimes are not affected.
void let_idle_threads_sleep(unsigned threads);

}  // namespace feedrate::trainer::cpu
