#pragma once
// How many threads OpenMP gives to those who do not say.

namespace feedrate::trainer::cpu {

/// As long as it lives. oneDNN asks OpenMP how many threads to use, when a primitive is made and when
/// it runs.
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
