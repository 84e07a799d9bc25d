#include "trainer/backends/cpu/values/arrays.h"

#include "trainer/backends/cpu/threads/parallel.h"
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
