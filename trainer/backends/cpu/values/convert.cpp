#include "trainer/backends/cpu/values/convert.h"

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/lanes.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

template <class From, class To>
FEEDRATE_INLINE inline void convert_all(const From* from, std::int64_t size, To* to) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats values;
    load(from + i, values);
    store(values, to + i);
  });
}

}  // namespace

FEEDRATE_VECTOR void convert(const Bf16* from, std::int64_t size, float* to) {
  convert_all(from, size, to);
}

FEEDRATE_VECTOR void convert(const float* from, std::int64_t size, Bf16* to) {
  convert_all(from, size, to);
}

}  // namespace feedrate::trainer::cpu
