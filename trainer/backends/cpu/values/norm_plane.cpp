#include "trainer/backends/cpu/values/norm_plane.h"

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/channel_sums.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

// The next three functions are batch_normalised(), batch_norm_gradient(), relu() and
// relu_gradient() of elementwise.h on vectors.

template <bool relu_follows>
FEEDRATE_INLINE inline void add_gradients(const float* gradients, const float* values,
                                          const NormPlane& plane, const NormCoefficients& c,
                                          double* sums, double* products) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    using Lanes = Sums<lanes>;
    using Floats = typename Lanes::Floats;
    using Doubles = typename Lanes::Doubles;
    Lanes sum(sums + first), product(products + first);
    Floats mean[Lanes::parts], scale[Lanes::parts], shift[Lanes::parts], x, gradient;
    for (int part = 0; part < Lanes::parts; ++part) {
      load(c.mean + first + part * Lanes::width, mean[part]);
      load(c.scale + first + part * Lanes::width, scale[part]);
      load(c.shift + first + part * Lanes::width, shift[part]);
    }
    for (std::int64_t pixel = 0; pixel < plane.pixels; ++pixel) {
#pragma GCC unroll 2
      for (int part = 0; part < Lanes::parts; ++part) {
        const std::int64_t i = pixel * plane.block + first + part * Lanes::width;
        load(gradients + i, gradient);
        load(values + i, x);
        x -= mean[part];
        if (relu_follows) gradient = x * scale[part] + shift[part] > 0.0F ? gradient : Floats{};
        const Doubles wide = __builtin_convertvector(gradient, Doubles);
        sum.add(part, wide);
        product.add(part, wide * __builtin_convertvector(x, Doubles));
      }
    }
  });
}

template <bool relu_follows>
FEEDRATE_INLINE inline void add_gradients(const Bf16* gradients, const Bf16* values,
                                          const NormPlane& plane, const NormCoefficients& c,
                                          double* sums, double* products) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    typename VectorOf<lanes>::Floats mean, scale, shift, x, gradient;
    load(c.mean + first, mean);
    load(c.scale + first, scale);
    load(c.shift + first, shift);
    for_runs(plane.pixels, [&](std::int64_t pixel, std::int64_t end) FEEDRATE_INLINE {
      ShortSums<lanes> sum(sums + first), product(products + first);
      for (; pixel < end; ++pixel) {
        load(gradients + pixel * plane.block + first, gradient);
        load(values + pixel * plane.block + first, x);
        x -= mean;
        if (relu_follows) gradient = x * scale + shift > 0.0F ? gradient : decltype(x){};
        sum.add(gradient);
        product.add(gradient * x);
      }
    });
  });
}

template <bool relu_follows, class T>
FEEDRATE_INLINE inline void normalise(const T* in, const NormPlane& plane,
                                      const NormCoefficients& c, T* out) {
  for_lanes(plane.block, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats mean, scale, shift, x;
    load(c.mean + first, mean);
    load(c.scale + first, scale);
    load(c.shift + first, shift);
    for (std::int64_t pixel = 0; pixel < plane.pixels; ++pixel) {
      load(in + pixel * plane.block + first, x);
      x = (x - mean) * scale + shift;
      if (relu_follows) x = x < 0.0F ? decltype(x){} : x;
      store(x, out + pixel * plane.block + first);
    }
  });
}

template <bool relu_follows, class T>
FEEDRATE_INLINE inline void denormalise(const T* gradients, const T* in, const NormPlane& plane,
                                        const NormCoefficients& c, T* out) {
  for_lanes(plane.block, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
    using Floats = typename VectorOf<width>::Floats;
    Floats mean, scale, shift, mean_gradient, slope, x, gradient;
    load(c.mean + first, mean);
    load(c.scale + first, scale);
    load(c.shift + first, shift);
    load(c.mean_gradient + first, mean_gradient);
    load(c.slope + first, slope);
    for (std::int64_t pixel = 0; pixel < plane.pixels; ++pixel) {
      load(gradients + pixel * plane.block + first, gradient);
      load(in + pixel * plane.block + first, x);
      x -= mean;
      if (relu_follows) gradient = x * scale + shift > 0.0F ? gradient : Floats{};
      gradient = ((gradient - mean_gradient) - x * slope) * scale;
      store(gradient, out + pixel * plane.block + first);
    }
  });
}

FEEDRATE_INLINE inline void add_strip_moments(const float* values, const NormPlane& plane,
                                              double* sums, double* squares) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    using Lanes = Sums<lanes>;
    Lanes sum(sums + first), square(squares + first);
    typename Lanes::Floats value;
    for (std::int64_t pixel = 0; pixel < plane.pixels; ++pixel) {
#pragma GCC unroll 2
      for (int part = 0; part < Lanes::parts; ++part) {
        load(values + pixel * plane.block + first + part * Lanes::width, value);
        const auto wide = __builtin_convertvector(value, typename Lanes::Doubles);
        sum.add(part, wide);
        square.add(part, wide * wide);
      }
    }
  });
}

FEEDRATE_INLINE inline void add_strip_moments(const Bf16* values, const NormPlane& plane,
                                              double* sums, double* squares) {
  for_lanes(plane.block, [&](std::int64_t first, auto lanes) FEEDRATE_INLINE {
    typename VectorOf<lanes>::Floats x;
    for_runs(plane.pixels, [&](std::int64_t pixel, std::int64_t end) FEEDRATE_INLINE {
      ShortSums<lanes> sum(sums + first), square(squares + first);
      for (; pixel < end; ++pixel) {
        load(values + pixel * plane.block + first, x);
        sum.add(x);
        square.add(x * x);
      }
    });
  });
}

}  // namespace

template <class T>
FEEDRATE_VECTOR void add_moments(const T* values, const NormPlane& plane, double* sums,
                                 double* squares) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip)
                        FEEDRATE_INLINE { add_strip_moments(values + at, strip, sums, squares); });
}

template <class T>
FEEDRATE_VECTOR void add_gradients(bool relu_follows, const T* gradients, const T* values,
                                   const NormPlane& plane, const NormCoefficients& c, double* sums,
                                   double* products) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? add_gradients<true>(gradients + at, values + at, strip, c, sums, products)
                 : add_gradients<false>(gradients + at, values + at, strip, c, sums, products);
  });
}

template <class T>
FEEDRATE_VECTOR void normalise(bool relu_follows, const T* in, const NormPlane& plane,
                               const NormCoefficients& c, T* out) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? normalise<true>(in + at, strip, c, out + at)
                 : normalise<false>(in + at, strip, c, out + at);
  });
}

template <class T>
FEEDRATE_VECTOR void denormalise(bool relu_follows, const T* gradients, const T* in,
                                 const NormPlane& plane, const NormCoefficients& c, T* out) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? denormalise<true>(gradients + at, in + at, strip, c, out + at)
                 : denormalise<false>(gradients + at, in + at, strip, c, out + at);
  });
}

#define FEEDRATE_TYPE(T)                                                                           \
  template void add_moments(const T*, const NormPlane&, double*, double*);                         \
  template void add_gradients(bool, const T*, const T*, const NormPlane&, const NormCoefficients&, \
                              double*, double*);                                                   \
  template void normalise(bool, const T*, const NormPlane&, const NormCoefficients&, T*);          \
  template void denormalise(bool, const T*, const T*, const NormPlane&, const NormCoefficients&,   \
                            T*);
FEEDRATE_TYPE(float)
FEEDRATE_TYPE(Bf16)
#undef FEEDRATE_TYPE

}  // namespace feedrate::trainer::cpu
