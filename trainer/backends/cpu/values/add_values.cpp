#include "trainer/backends/cpu/values/add_values.h"

#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {

FEEDRATE_VECTOR void add_values(const float* from, std::int64_t size, float* to) {
  for (std::int64_t i = 0; i < size; ++i) to[i] += from[i];
}

}  // namespace feedrate::trainer::cpu
