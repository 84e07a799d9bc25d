#include "converters/synths/shapes.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace feedrate::converters {
using namespace formats;

namespace {

// Only + - * /, which IEEE 754 rounds in one way: the same seed has to give the same files
// everywhere.

struct Point {
  float x = 0;
  float y = 0;
};

struct Colour {
  float red = 0;
  float green = 0;
  float blue = 0;
};

Colour mix(Colour a, Colour b, float share) {
  return {a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share,
          a.blue + (b.blue - a.blue) * share};
}

Colour any_colour(Draws& draws) {
  return {draws.between(0, 1), draws.between(0, 1), draws.between(0, 1)};
}

// What a kind's colour leans to.
constexpr Colour leanings[] = {{.9F, .2F, .2F}, {.2F, .8F, .3F}, {.2F, .3F, .9F}, {.9F, .8F, .2F},
                               {.8F, .3F, .8F}, {.2F, .8F, .8F}, {.9F, .5F, .1F}, {.5F, .3F, .1F},
                               {.9F, .9F, .9F}, {.2F, .2F, .2F}};
static_assert(std::size(leanings) == shape_names.size());

float magnitude(float value) { return value < 0 ? -value : value; }
float square(float value) { return value * value; }

// From the image to a shape's own box: its place, size and turn.
class Pose {
 public:
  // The size is that of half the box, in pixels.
  Pose(Draws& draws, float side, float smallest, float largest)
      : centre_{draws.between(.35F, .65F) * side, draws.between(.35F, .65F) * side},
        size_(draws.between(smallest, largest) * side) {
    // A rotation without sin and cos: the half-angle's tangent gives both.
    const float t = draws.between(-.2F, .2F);  // ±23 degrees
    cos_ = (1 - t * t) / (1 + t * t);
    sin_ = 2 * t / (1 + t * t);
  }
  void move_to(Point centre) { centre_ = centre; }

  Point operator()(Point pixel) const {
    const float x = (pixel.x - centre_.x) / size_, y = (pixel.y - centre_.y) / size_;
    return {x * cos_ + y * sin_, y * cos_ - x * sin_};
  }

 private:
  Point centre_;
  float size_;
  float cos_ = 1, sin_ = 0;
};

// A shape in one colour. Of each pixel four points are looked at, so that edges are soft.
struct Thing {
  unsigned kind;
  Pose pose;
  Colour colour;

  float cover(std::uint32_t x, std::uint32_t y) const {
    float covered = 0;
    for (const float dy : {.25F, .75F}) {
      for (const float dx : {.25F, .75F}) {
        const Point point{static_cast<float>(x) + dx, static_cast<float>(y) + dy};
        const Point own = pose(point);
        if (shape_covers(kind, own.x, own.y)) covered += .25F;
      }
    }
    return covered;
  }
};

std::byte to_byte(float value) {
  return static_cast<std::byte>(std::clamp(value, 0.0F, 1.0F) * 255.0F + 0.5F);
}

}  // namespace

bool shape_covers(unsigned kind, float right, float down) {
  const float x = magnitude(right), y = magnitude(down);
  const float from_centre = right * right + down * down;
  const float side = std::max(x, y);
  switch (kind) {
    case 0:
      return from_centre < 1;
    case 1:
      return from_centre < 1 && from_centre > .3F;
    case 2:
      return side < .85F;
    case 3:
      return side < .9F && side > .55F;
    case 4:
      return down < .8F && down > 1.8F * x - .9F;
    case 5:
      return side < 1 && std::min(x, y) < .28F;
    case 6:
      return x < 1 && y < .3F;
    case 7:
      return from_centre < 1 && down < 0;
    case 8:
      return square(x - .55F) + y * y < .18F;
    default:
      return side < .9F && (y < .2F || y > .55F);
  }
}

void draw_shape(unsigned kind, Draws& draws, std::uint32_t side, MutableBytes pixels) {
  assert(kind < shape_names.size() && pixels.size() == std::size_t{3} * side * side);
  const auto size = static_cast<float>(side);
  const Colour top = any_colour(draws), bottom = any_colour(draws);
  std::vector<Thing> things;
  // Scraps, so that no single place in the image tells the kind.
  for (std::uint32_t scraps = draws.below(4); scraps != 0; --scraps) {
    const unsigned scrap = draws.below(static_cast<std::uint32_t>(shape_names.size()));
    Pose pose(draws, size, .04F, .1F);
    const float x = draws.between(0, size);
    pose.move_to({x, draws.between(0, size)});
    things.push_back({scrap, pose, any_colour(draws)});
  }
  const Pose pose(draws, size, .2F, .38F);
  things.push_back({kind, pose, mix(any_colour(draws), leanings[kind], .5F)});
  const float grain = draws.between(0, .08F);

  std::size_t at = 0;
  for (std::uint32_t y = 0; y < side; ++y) {
    const Colour ground = mix(top, bottom, static_cast<float>(y) / size);
    for (std::uint32_t x = 0; x < side; ++x) {
      Colour colour = ground;
      for (const Thing& thing : things) colour = mix(colour, thing.colour, thing.cover(x, y));
      for (const float channel : {colour.red, colour.green, colour.blue}) {
        pixels[at++] = to_byte(channel + draws.between(-grain, grain));
      }
    }
  }
}

}  // namespace feedrate::converters
