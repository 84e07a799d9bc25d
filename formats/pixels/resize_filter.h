#pragma once
// The weights of resizing, one by one, for host and device. The order of the operations decides the
// last bit; it is Pillow's. So whoever includes this is compiled without fused multiply-add.

#include <cstdint>

#include "formats/pixels/resize_axis.h"

namespace feedrate::formats {

/// Keys' cubic with a = -0.5, at a distance from 0 on.
constexpr double cubic(double distance) {
  constexpr double a = -0.5;
  if (distance < 1.0) return ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1;
  if (distance < 2.0) return (((distance - 5) * distance + 8) * distance - 4) * a;
  return 0.0;
}

/// Resizing: a triangle or a cubic that widens as the image shrinks. Stateless.
struct ResizeFilter {
  constexpr explicit ResizeFilter(const ResizeSpan& span)
      : scale(static_cast<double>(span.from) / span.to),
        shrunk(span.shrunk),
        offset(span.offset),
        is_cubic(span.interpolation == Interpolation::bicubic),
        widening(scale / shrunk > 1.0 ? scale / shrunk : 1.0),
        reach(is_cubic ? 2.0 * widening : widening),
        narrowing(1.0 / widening),
        from(span.source()) {}

  constexpr double center(std::uint32_t target) const {
    return (offset + (target + 0.5) * scale) / shrunk;
  }
  /// The source pixels of a target pixel: from first() to before end().
  constexpr std::uint32_t first(std::uint32_t target) const {
    const double begin = center(target) - reach + 0.5;
    return static_cast<std::uint32_t>(begin > 0.0 ? begin : 0.0);
  }
  constexpr std::uint32_t end(std::uint32_t target) const {
    const auto behind = static_cast<std::uint32_t>(center(target) + reach + 0.5);
    return behind < from ? behind : from;
  }
  /// How much source pixel `i` weighs beside the others of a target pixel with that center.
  constexpr double part(std::uint32_t i, double center_of_target) const {
    const double place = (i - center_of_target + 0.5) * narrowing;
    const double distance = place < 0 ? -place : place;
    if (is_cubic) return cubic(distance);
    const double height = 1.0 - distance;
    return height > 0.0 ? height : 0.0;
  }
  /// The weight of a part of that sum, in units of 2^-resize_bits.
  static constexpr std::int32_t weight(double part, double sum) {
    const double share = part / sum;
    return static_cast<std::int32_t>((share < 0 ? -0.5 : 0.5) + share * (1 << resize_bits));
  }
  /// Calls body(i, weight) for every source pixel of a target pixel.
  template <class Body>
  constexpr void each_weight(std::uint32_t target, Body&& body) const {
    const double middle = center(target);
    const std::uint32_t begin = first(target), behind = end(target);
    double sum = 0;
    for (std::uint32_t i = begin; i < behind; ++i) sum += part(i, middle);
    for (std::uint32_t i = begin; i < behind; ++i) body(i, weight(part(i, middle), sum));
  }

  double scale;  // pixels of the whole image for one of the target
  double shrunk;
  double offset;
  bool is_cubic;
  double widening;
  double reach;  // of the filter to either side, in source pixels
  double narrowing;
  std::uint32_t from;
};

}  // namespace feedrate::formats
