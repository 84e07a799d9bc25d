#include "converters/synths/picture.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr float reach = 1.5F;  // of a form from its origin, in its own unit

float distance_from_segment(Point point, Point a, Point b) {
  const Point p{point.x - a.x, point.y - a.y}, d{b.x - a.x, b.y - a.y};
  const float length = std::max(d.x * d.x + d.y * d.y, 1e-6F);
  const float along = std::clamp((p.x * d.x + p.y * d.y) / length, 0.0F, 1.0F);
  const float x = p.x - along * d.x, y = p.y - along * d.y;
  return std::sqrt(x * x + y * y);
}

}  // namespace

Form stroke(std::vector<Point> points, float radius) {
  return [points = std::move(points), radius](Point point) {
    float nearest = 2 * reach;
    for (std::size_t i = 1; i < points.size(); ++i) {
      nearest = std::min(nearest, distance_from_segment(point, points[i - 1], points[i]));
    }
    return nearest - radius;
  };
}

void render(const Picture& picture, Draws& draws, Shape shape, MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  const auto& [ground, form, ink, centre, size, t, grain] = picture;
  // From the tangent of the half-angle, since libraries round sin() and cos() differently.
  const float cos = (1 - t * t) / (1 + t * t), sin = 2 * t / (1 + t * t);
  const float unit = 1 / size;
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      const Point point{static_cast<float>(x) + .5F, static_cast<float>(y) + .5F};
      Colour colour = ground(point);
      const float right = (point.x - centre.x) * unit, down = (point.y - centre.y) * unit;
      if (right * right + down * down < reach * reach) {
        const float distance = form({right * cos + down * sin, down * cos - right * sin});
        colour = mix(colour, ink, std::clamp(.5F - distance * size, 0.0F, 1.0F));
      }
      const std::uint32_t noise = draws.below(1U << 24);  // a byte for each channel
      for (std::uint32_t i = 0; i < shape.channels; ++i) {
        const float speck = static_cast<float>(noise >> (8 * i) & 0xff) * (2 / 255.0F) - 1;
        const float value = std::clamp(colour[i] + speck * grain, 0.0F, 1.0F);
        pixels[at++] = static_cast<std::byte>(value * 255.0F + .5F);
      }
    }
  }
}

}  // namespace feedrate::converters
