#include "converters/synths/scenes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "converters/synths/shapes.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Only + - * / and sqrt, which IEEE 754 rounds in one way: the same seed has to give the same files
// everywhere.

using Colour = std::array<float, 3>;

struct NamedColour {
  std::string_view name;
  Colour colour;
};
constexpr NamedColour colours[] = {{"red", {.9F, .15F, .15F}},    {"green", {.15F, .75F, .25F}},
                                   {"blue", {.15F, .25F, .9F}},   {"yellow", {.95F, .9F, .2F}},
                                   {"purple", {.6F, .2F, .7F}},   {"cyan", {.2F, .85F, .9F}},
                                   {"orange", {.95F, .5F, .1F}},  {"brown", {.45F, .28F, .1F}},
                                   {"white", {.97F, .97F, .97F}}, {"black", {.05F, .05F, .05F}}};
constexpr std::string_view grounds[] = {"plain", "rows", "columns", "slopes", "checks",
                                        "dots",  "grid", "waves",   "bricks", "rings"};
static_assert(std::size(colours) == 10 && std::size(grounds) == 10 && shape_names.size() == 10);

struct Look {
  unsigned form;
  unsigned colour;
  unsigned ground;
};

// Classes that differ in one digit of their label differ in as much as can be, so that any few of
// the thousand are told apart by more than one thing.
Look look_of(unsigned label) {
  const unsigned ones = label % 10, tens = label / 10 % 10, hundreds = label / 100 % 10;
  return {(ones + tens + hundreds) % 10, (tens + hundreds) % 10, hundreds};
}

Colour mix(const Colour& a, const Colour& b, float share) {
  Colour mixed{};
  for (std::size_t i = 0; i < 3; ++i) mixed[i] = a[i] + (b[i] - a[i]) * share;
  return mixed;
}

Colour any_colour(Draws& draws) {
  const float red = draws.between(0, 1), green = draws.between(0, 1);
  return {red, green, draws.between(0, 1)};
}

int square(int value) { return value * value; }

// True where the ground's pattern is in its second colour. `size`: of a row, a brick, …, in pixels.
bool is_figured(unsigned ground, int x, int y, int size) {
  const auto odd = [size](int position) { return (position / size & 1) != 0; };
  switch (ground) {
    case 0:
      return false;
    case 1:
      return odd(y);
    case 2:
      return odd(x);
    case 3:
      return odd(x + y);
    case 4:
      return odd(x) != odd(y);
    case 5:
      return square(x % (2 * size) - size) + square(y % (2 * size) - size) < square(size) / 3;
    case 6:
      return x % size < size / 4 || y % size < size / 4;
    case 7:
      return odd(y + std::abs(x % (4 * size) - 2 * size));
    case 8:
      return y % size < size / 5 || (x + (odd(y) ? size : 0)) % (2 * size) < size / 5;
    default:
      return odd(static_cast<int>(std::sqrt(static_cast<float>(x * x + y * y))));
  }
}

// A form of some size, somewhere, turned a little.
class Thing {
 public:
  Thing(unsigned kind, const Colour& colour, float x, float y, float size, Draws& draws)
      : kind_(kind), colour_(colour), x_(x), y_(y), size_(size) {
    // A rotation without sin and cos: the half-angle's tangent gives both.
    const float t = draws.between(-.2F, .2F);  // ±23 degrees
    cos_ = (1 - t * t) / (1 + t * t);
    sin_ = 2 * t / (1 + t * t);
  }

  // Of the pixels that the form may cover, those of the image.
  SceneBox bounds(Shape shape) const {
    const float reach = 1.5F * size_;  // the corners of its box, turned
    const auto within = [](float position, std::uint32_t side) {
      return static_cast<std::uint32_t>(std::clamp(position, 0.0F, static_cast<float>(side - 1)));
    };
    return {within(x_ - reach, shape.width), within(y_ - reach, shape.height),
            within(x_ + reach, shape.width), within(y_ + reach, shape.height)};
  }

  // The share of a pixel that is covered, by four points in it.
  float cover(std::uint32_t x, std::uint32_t y) const {
    float covered = 0;
    for (const float dy : {.25F, .75F}) {
      for (const float dx : {.25F, .75F}) {
        const float right = (static_cast<float>(x) + dx - x_) / size_;
        const float down = (static_cast<float>(y) + dy - y_) / size_;
        if (shape_covers(kind_, right * cos_ + down * sin_, down * cos_ - right * sin_)) {
          covered += .25F;
        }
      }
    }
    return covered;
  }

  const Colour& colour() const { return colour_; }

 private:
  unsigned kind_;
  Colour colour_;
  float x_, y_, size_;
  float cos_ = 1, sin_ = 0;
};

class Scene {
 public:
  Scene(unsigned label, Draws& draws, Shape shape) : look_(look_of(label)), shape_(shape) {
    const auto width = static_cast<float>(shape.width), height = static_cast<float>(shape.height);
    const float side = std::min(width, height);
    const Colour base = any_colour(draws);
    ground_ = {base, mix(base, any_colour(draws), .5F)};
    figure_ = any_colour(draws);
    figure_ = mix(base, figure_, draws.between(.4F, .8F));
    pattern_size_ = static_cast<int>(side * draws.between(.04F, .1F)) + 4;
    for (std::uint32_t scraps = draws.below(5); scraps != 0; --scraps) {
      const unsigned kind = draws.below(10);
      const Colour colour = any_colour(draws);
      const float x = draws.between(0, width), y = draws.between(0, height);
      const float size = draws.between(.02F, .06F) * side;
      things_.emplace_back(kind, colour, x, y, size, draws);
    }
    const Colour colour = mix(colours[look_.colour].colour, any_colour(draws), .2F);
    const float x = draws.between(.35F, .65F) * width, y = draws.between(.35F, .65F) * height;
    const float size = draws.between(.18F, .38F) * side;
    things_.emplace_back(look_.form, colour, x, y, size, draws);
    grain_ = draws.between(.04F, .16F);
  }

  SceneBox draw(Draws& draws, MutableBytes pixels) const {
    std::vector<Colour> row(shape_.width);
    SceneBox box{shape_.width - 1, shape_.height - 1, 0, 0};
    std::size_t at = 0;
    for (std::uint32_t y = 0; y < shape_.height; ++y) {
      draw_ground(y, row);
      for (const Thing& thing : things_) {
        const SceneBox bounds = thing.bounds(shape_);
        if (y < bounds.ymin || y > bounds.ymax) continue;
        for (std::uint32_t x = bounds.xmin; x <= bounds.xmax; ++x) {
          const float cover = thing.cover(x, y);
          if (cover == 0) continue;
          row[x] = mix(row[x], thing.colour(), cover);
          if (&thing == &things_.back()) grow(box, x, y);
        }
      }
      for (const Colour& colour : row) {
        const std::uint32_t noise = draws.below(1U << 24);
        for (std::size_t i = 0; i < 3; ++i) {
          const auto speck = static_cast<float>(noise >> (8 * i) & 0xff) * (2 / 255.0F) - 1;
          const float value = std::clamp(colour[i] + speck * grain_, 0.0F, 1.0F);
          pixels[at++] = static_cast<std::byte>(value * 255.0F + 0.5F);
        }
      }
    }
    return box;
  }

 private:
  static void grow(SceneBox& box, std::uint32_t x, std::uint32_t y) {
    box = {std::min(box.xmin, x), std::min(box.ymin, y), std::max(box.xmax, x),
           std::max(box.ymax, y)};
  }

  void draw_ground(std::uint32_t y, std::vector<Colour>& row) const {
    const float share = static_cast<float>(y) / static_cast<float>(shape_.height);
    const Colour plain = mix(ground_[0], ground_[1], share);
    const Colour figured = mix(figure_, plain, .3F);
    for (std::uint32_t x = 0; x < shape_.width; ++x) {
      const bool second =
          is_figured(look_.ground, static_cast<int>(x), static_cast<int>(y), pattern_size_);
      row[x] = second ? figured : plain;
    }
  }

  Look look_;
  Shape shape_;
  std::array<Colour, 2> ground_{};  // above and below
  Colour figure_{};
  int pattern_size_ = 0;
  std::vector<Thing> things_;  // the form is the last one
  float grain_ = 0;
};

}  // namespace

std::string scene_words(unsigned label) {
  const Look look = look_of(label);
  return join(colours[look.colour].name, " ", shape_names[look.form], " on ", grounds[look.ground]);
}

SceneBox draw_scene(unsigned label, Draws& draws, Shape shape, MutableBytes pixels) {
  assert(label < scene_classes && shape.channels == 3 && pixels.size() == shape.bytes());
  const Scene scene(label, draws, shape);
  return scene.draw(draws, pixels);
}

}  // namespace feedrate::converters
