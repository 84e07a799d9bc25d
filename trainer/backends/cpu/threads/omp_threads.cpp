#include "trainer/backends/cpu/threads/omp_threads.h"

#include <omp.h>

namespace feedrate::trainer::cpu {

OmpThreads::OmpThreads(unsigned threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(static_cast<int>(threads));
}

OmpThreads::~OmpThreads() { omp_set_num_threads(before_); }

}  // namespace feedrate::trainer::cpu
