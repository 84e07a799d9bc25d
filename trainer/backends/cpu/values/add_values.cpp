#include "trainer/backends/cpu/values/add_values.h"

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/lanes.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {

template <class T>
FEEDRATE_VECTOR void add_values(const T* from, std::int64_t size, T* to) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats sum, term;
    load(to + i, sum);
    load(from + i, term);
    sum += term;
    store(sum, to + i);
  });
}
template void add_values(const float*, std::int64_t, float*);
template void add_values(const Bf16*, std::int64_t, Bf16*);

}  // namespace feedrate::trainer::cpu
