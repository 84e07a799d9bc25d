#pragma once
// How many threads OpenMP gives to those who do not say.

#include <omp.h>

namespace feedrate::cpu {

// oneDNN asks OpenMP how many threads to use, when a primitive is made and when it runs.
class OmpThreads {
 public:
  explicit OmpThreads(unsigned threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(static_cast<int>(threads));
  }
  ~OmpThreads() { omp_set_num_threads(before_); }
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

}  // namespace feedrate::cpu
