#pragma once
// Sums over the pixels of a plane, channel by channel, for norms. For use inside functions marked
// FEEDRATE_VECTOR.

#include <algorithm>
#include <cstdint>

#include "trainer/backends/cpu/values/norm_plane.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {

/// Sums over `lanes` channels, in vectors of doubles: for fp32.
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

/// Sums over `lanes` channels of a few pixels, in fp32. Enough where values are bf16: their
/// rounding is 2^16 times as coarse.
template <int lanes>
class ShortSums {
 public:
  using Floats = typename VectorOf<lanes>::Floats;
  static constexpr std::int64_t max_pixels = 16;

  FEEDRATE_INLINE explicit ShortSums(double* home) : home_(home) {}
  FEEDRATE_INLINE ~ShortSums() {
    typename VectorOf<lanes>::Doubles all;
    load(home_, all);
    all += __builtin_convertvector(sums_, typename VectorOf<lanes>::Doubles);
    store(all, home_);
  }
  ShortSums(const ShortSums&) = delete;
  ShortSums& operator=(const ShortSums&) = delete;
  FEEDRATE_INLINE void add(const Floats& values) { sums_ += values; }

 private:
  double* home_;
  Floats sums_{};
};

// Channels-last planes are processed in strips of a few pixels with all their channels. A column of
// 16 channels through the whole plane would jump by a pixel's width at every step, which
// prefetchers do not follow.
inline constexpr std::int64_t strip_pixels = 8;
inline constexpr std::int64_t max_column = 16;

/// Calls body(first pixel, end) for runs of at most ShortSums' pixels.
template <class Body>
FEEDRATE_INLINE inline void for_runs(std::int64_t pixels, const Body& body) {
  constexpr std::int64_t most = ShortSums<1>::max_pixels;
  for (std::int64_t pixel = 0; pixel < pixels; pixel += most) {
    body(pixel, std::min(pixel + most, pixels));
  }
}

/// Calls body(offset of a strip, the strip).
template <class Body>
FEEDRATE_INLINE inline void for_strips(const NormPlane& plane, const Body& body) {
  if (plane.block <= max_column) return body(std::int64_t{0}, plane);
  for (std::int64_t pixel = 0; pixel < plane.pixels; pixel += strip_pixels) {
    body(pixel * plane.block, NormPlane{std::min(strip_pixels, plane.pixels - pixel), plane.block});
  }
}

}  // namespace feedrate::trainer::cpu
