#pragma once
// The OpenMP thread count of callers that set none.

namespace feedrate::trainer::cpu {

/// Sets the count on the calling thread until it is destroyed. oneDNN asks OpenMP how many threads
/// to use, both when a primitive is made and when it runs.
class OmpThreads {
 public:
  explicit OmpThreads(unsigned threads);
  ~OmpThreads();
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

}  // namespace feedrate::trainer::cpu
