#include "trainer/backends/cpu/values/norm_plane.h"

#include <algorithm>

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/lanes.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

// Sums over `lanes` channels, in vectors of doubles.
template <int lanes>
class Sums {
 public:
  using Floats = typename VectorOf<std::min(lanes, 8)>::Floats;
  using Doubles = typename VectorOf<std::min(lanes, 8)>::Doubles;
  static constexpr int width = std::min(lanes, 8), parts = lanes / width;

  FEEDRATE_INLINE explicit Sums(double* home) : home_(home) {
    for (int i = 0; i < parts; ++i) load(home_ + i * width, sums_[i]);
  }
  FEEDRATE_INLINE ~Sums() {
    for (int i = 0; i < parts; ++i) store(sums_[i], home_ + i * width);
  }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;
  FEEDRATE_INLINE void add(int part, const Doubles& values) { sums_[part] += values; }

 private:
  double* home_;
  Doubles sums_[parts];
};

// Channels-last planes are processed in strips of a few pixels with all their channels. A column of
// 16 channels through the whole plane would jump by a pixel's width at every step, which
// prefetchers do not follow.
constexpr std::int64_t strip_pixels = 8;
constexpr std::int64_t max_column = 16;

/// Calls body(offset of a strip, the strip).
template <class Body>
FEEDRATE_INLINE inline void for_strips(const NormPlane& plane, const Body& body) {
  if (plane.block <= max_column) return body(std::int64_t{0}, plane);
  for (std::int64_t pixel = 0; pixel < plane.pixels; pixel += strip_pixels) {
    body(pixel * plane.block, NormPlane{std::min(strip_pixels, plane.pixels - pixel), plane.block});
  }
}

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
FEEDRATE_INLINE inline void normalise(const float* in, const NormPlane& plane,
                                      const NormCoefficients& c, float* out) {
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

template <bool relu_follows>
FEEDRATE_INLINE inline void denormalise(const float* gradients, const float* in,
                                        const NormPlane& plane, const NormCoefficients& c,
                                        float* out) {
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

}  // namespace

FEEDRATE_VECTOR void add_moments(const float* values, const NormPlane& plane, double* sums,
                                 double* squares) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip)
                        FEEDRATE_INLINE { add_strip_moments(values + at, strip, sums, squares); });
}

FEEDRATE_VECTOR void add_gradients(bool relu_follows, const float* gradients, const float* values,
                                   const NormPlane& plane, const NormCoefficients& c, double* sums,
                                   double* products) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? add_gradients<true>(gradients + at, values + at, strip, c, sums, products)
                 : add_gradients<false>(gradients + at, values + at, strip, c, sums, products);
  });
}
FEEDRATE_VECTOR void normalise(bool relu_follows, const float* in, const NormPlane& plane,
                               const NormCoefficients& c, float* out) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? normalise<true>(in + at, strip, c, out + at)
                 : normalise<false>(in + at, strip, c, out + at);
  });
}
FEEDRATE_VECTOR void denormalise(bool relu_follows, const float* gradients, const float* in,
                                 const NormPlane& plane, const NormCoefficients& c, float* out) {
  for_strips(plane, [&](std::int64_t at, const NormPlane& strip) FEEDRATE_INLINE {
    relu_follows ? denormalise<true>(gradients + at, in + at, strip, c, out + at)
                 : denormalise<false>(gradients + at, in + at, strip, c, out + at);
  });
}

}  // namespace feedrate::trainer::cpu
