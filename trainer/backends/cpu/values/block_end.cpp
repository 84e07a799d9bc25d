#include "trainer/backends/cpu/values/block_end.h"

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/channel_sums.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

/// Loads the gradient at `i`, adds the second term, takes it through the relu and stores it. In
/// bf16 the sum of two terms is rounded, as if it had been stored before the relu.
template <bool two_terms, class T, class Vector>
FEEDRATE_INLINE inline void mask(const EndGradients<T>& end, std::int64_t i, Vector& gradient) {
  Vector other;
  load(end.gradient + i, gradient);
  if (two_terms) {
    load(end.term + i, other);
    gradient += other;
  }
  load(end.output + i, other);
  gradient = other > 0.0F ? gradient : Vector{};
  store(gradient, end.masked + i);
  if (two_terms && type_of_values<T> == ValueType::bf16) load(end.masked + i, gradient);
}

// The sums are added up in the order of add_gradients() in norm_plane.cpp.

template <bool two_terms>
FEEDRATE_INLINE inline void add_strip(const EndGradients<float>& end, const float* values,
                                      const NormPlane& plane, const NormCoefficients& c,
                                      double* sums, double* products) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    using Lanes = Sums<lanes>;
    using Doubles = typename Lanes::Doubles;
    Lanes sum(sums + first), product(products + first);
    typename Lanes::Floats mean[Lanes::parts], x, gradient;
    for (int part = 0; part < Lanes::parts; ++part) {
      load(c.mean + first + part * Lanes::width, mean[part]);
    }
    for (std::int64_t pixel = 0; pixel < plane.pixels; ++pixel) {
#pragma GCC unroll 2
      for (int part = 0; part < Lanes::parts; ++part) {
        const std::int64_t i = pixel * plane.block + first + part * Lanes::width;
        mask<two_terms>(end, i, gradient);
        load(values + i, x);
        x -= mean[part];
        const Doubles wide = __builtin_convertvector(gradient, Doubles);
        sum.add(part, wide);
        product.add(part, wide * __builtin_convertvector(x, Doubles));
      }
    }
  });
}

template <bool two_terms>
FEEDRATE_INLINE inline void add_strip(const EndGradients<Bf16>& end, const Bf16* values,
                                      const NormPlane& plane, const NormCoefficients& c,
                                      double* sums, double* products) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    typename VectorOf<lanes>::Floats mean, x, gradient;
    load(c.mean + first, mean);
    for_runs(plane.pixels, [&](std::int64_t pixel, std::int64_t stop) FEEDRATE_INLINE {
      ShortSums<lanes> sum(sums + first), product(products + first);
      for (; pixel < stop; ++pixel) {
        const std::int64_t i = pixel * plane.block + first;
        mask<two_terms>(end, i, gradient);
        load(values + i, x);
        x -= mean;
        sum.add(gradient);
        product.add(gradient * x);
      }
    });
  });
}

}  // namespace

template <class T>
FEEDRATE_VECTOR void normalise_and_add(const T* in, const T* other, const NormPlane& plane,
                                       const NormCoefficients& c, T* out) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    for_lanes(strip.block, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
      typename VectorOf<width>::Floats mean, scale, shift, x, y;
      load(c.mean + first, mean);
      load(c.scale + first, scale);
      load(c.shift + first, shift);
      for (std::int64_t pixel = 0; pixel < strip.pixels; ++pixel) {
        const std::int64_t i = at + pixel * strip.block + first;
        load(in + i, x);
        load(other + i, y);
        x = (x - mean) * scale + shift;
        x += y;
        x = x < 0.0F ? decltype(x){} : x;
        store(x, out + i);
      }
    });
  });
}

template <class T>
FEEDRATE_VECTOR void add_end_gradients(const EndGradients<T>& end, const T* values,
                                       const NormPlane& plane, const NormCoefficients& c,
                                       double* sums, double* products) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    const EndGradients<T> here = end.from(at);
    here.term != nullptr ? add_strip<true>(here, values + at, strip, c, sums, products)
                         : add_strip<false>(here, values + at, strip, c, sums, products);
  });
}

#define FEEDRATE_TYPE(T)                                                                         \
  template void normalise_and_add(const T*, const T*, const NormPlane&, const NormCoefficients&, \
                                  T*);                                                           \
  template void add_end_gradients(const EndGradients<T>&, const T*, const NormPlane&,            \
                                  const NormCoefficients&, double*, double*);
FEEDRATE_TYPE(float)
FEEDRATE_TYPE(Bf16)
#undef FEEDRATE_TYPE

}  // namespace feedrate::trainer::cpu
