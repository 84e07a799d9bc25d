#pragma once
// Drawing for made images: random numbers, forms and colours.
//
// Only + - * / and sqrt, whose rounding IEEE 754 fixes, and no fused multiply-add: the same draws
// give the same bytes on every machine. Any thread.

#include <array>
#include <functional>
#include <vector>

#include "formats/base/random.h"
#include "formats/pixels/image.h"

namespace feedrate::converters {

/// The sequence of random numbers for one image: a pure function of seed, split and index, so that
/// any thread can draw any image.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t split, std::uint64_t index)
      : key_(formats::mix64(formats::mix64(formats::mix64(seed) + split) + index)) {}

  /// 0 … bound - 1.
  std::uint32_t below(std::uint32_t bound) { return formats::below(bits(), bound); }
  /// [low, high). Unlike the distributions of <random>, the same in every standard library.
  float between(float low, float high) { return low + formats::unit_float(bits()) * (high - low); }

 private:
  std::uint64_t bits() { return formats::mix64(key_ + counter_++); }

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

struct Point {
  float x = 0;
  float y = 0;
};

/// Red, green and blue, 0 … 1. A grey image uses only the first.
using Colour = std::array<float, 3>;
inline Colour mix(const Colour& a, const Colour& b, float share) {
  return {a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share};
}

/// The distance of a point from a form's edge, negative inside. A form stays within 1.5 of the
/// origin; y points down.
using Form = std::function<float(Point)>;
/// A line through the points, `radius` to either side.
Form stroke(std::vector<Point> points, float radius);

/// A form in one colour on a background, with grain over both.
struct Picture {
  std::function<Colour(Point)> ground = {};
  Form form = {};
  Colour colour = {};
  Point centre = {};  // of the form, in pixels
  float size = 1;     // pixels per unit of the form
  float turn = 0;     // tangent of half the angle of rotation
  float grain = 0;    // the largest deviation of a value
};

/// Fills `pixels`, shape.bytes() of them.
void render(const Picture& picture, Draws& draws, formats::Shape shape,
            formats::MutableBytes pixels);

}  // namespace feedrate::converters
