#include "trainer/backends/cpu/values/relu_values.h"

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/lanes.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {

// relu() and relu_gradient() of elementwise.h on vectors.

template <class T>
FEEDRATE_VECTOR void relu_values(const T* in, std::int64_t size, T* out) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats x;
    load(in + i, x);
    x = x < 0.0F ? decltype(x){} : x;
    store(x, out + i);
  });
}
template void relu_values(const float*, std::int64_t, float*);
template void relu_values(const Bf16*, std::int64_t, Bf16*);

template <class T>
FEEDRATE_VECTOR void relu_gradients(const T* gradient, const T* output, std::int64_t size, T* to) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats x, mine;
    load(output + i, x);
    load(gradient + i, mine);
    mine = x > 0.0F ? mine : decltype(x){};
    store(mine, to + i);
  });
}
template void relu_gradients(const float*, const float*, std::int64_t, float*);
template void relu_gradients(const Bf16*, const Bf16*, std::int64_t, Bf16*);

}  // namespace feedrate::trainer::cpu
