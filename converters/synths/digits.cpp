#include "converters/synths/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

namespace feedrate::converters {
using namespace formats;

namespace {

// Only + - * / and sqrt, which IEEE 754 rounds in one way: sin and cos differ between libraries,
// and the same seed has to give the same files everywhere.

struct Point {
  float x = 0;
  float y = 0;
};

// A stroke of a digit in a box of 1 x 1, y downwards: a line through points, or part of an ellipse.
struct Stroke {
  std::array<Point, 4> line{};
  std::size_t points = 0;
  Point centre{};
  Point radius{};
  int from = 0;   // sixteenths of a turn, clockwise, 0 to the right
  int steps = 0;  // how many of them
};

constexpr Stroke line(std::initializer_list<Point> points) {
  Stroke stroke;
  for (const Point point : points) stroke.line[stroke.points++] = point;
  return stroke;
}

constexpr Stroke arc(Point centre, Point radius, int from, int steps) {
  return {.centre = centre, .radius = radius, .from = from, .steps = steps};
}

constexpr Stroke zero[] = {arc({.5F, .5F}, {.34F, .46F}, 0, 16)};
constexpr Stroke one[] = {line({{.32F, .25F}, {.55F, .05F}, {.55F, .95F}})};
constexpr Stroke two[] = {arc({.5F, .3F}, {.31F, .25F}, 8, 10),
                          line({{.78F, .4F}, {.2F, .95F}, {.84F, .95F}})};
constexpr Stroke three[] = {arc({.47F, .28F}, {.29F, .23F}, 9, 11),
                            arc({.47F, .72F}, {.33F, .24F}, 12, 11)};
constexpr Stroke four[] = {line({{.66F, .95F}, {.66F, .05F}, {.14F, .66F}, {.88F, .66F}})};
constexpr Stroke five[] = {line({{.8F, .05F}, {.28F, .05F}, {.25F, .46F}}),
                           arc({.47F, .68F}, {.33F, .27F}, 10, 12)};
constexpr Stroke six[] = {line({{.7F, .05F}, {.4F, .3F}, {.23F, .65F}}),
                          arc({.5F, .7F}, {.28F, .25F}, 0, 16)};
constexpr Stroke seven[] = {line({{.15F, .06F}, {.85F, .06F}, {.4F, .95F}})};
constexpr Stroke eight[] = {arc({.5F, .27F}, {.25F, .22F}, 0, 16),
                            arc({.5F, .73F}, {.31F, .23F}, 0, 16)};
constexpr Stroke nine[] = {arc({.5F, .3F}, {.28F, .25F}, 0, 16),
                           line({{.78F, .3F}, {.72F, .65F}, {.52F, .95F}})};
constexpr std::span<const Stroke> digits[] = {zero, one, two,   three, four,
                                              five, six, seven, eight, nine};

// cos of 0, 1, … 15 sixteenths of a turn; sin is the same four later.
constexpr float cosines[] = {
    1.0F,  0.9238795F,  0.7071068F,  0.3826834F,  0.0F, -0.3826834F, -0.7071068F, -0.9238795F,
    -1.0F, -0.9238795F, -0.7071068F, -0.3826834F, 0.0F, 0.3826834F,  0.7071068F,  0.9238795F};
float cosine(int sixteenths) { return cosines[sixteenths & 15]; }
float sine(int sixteenths) { return cosines[(sixteenths + 12) & 15]; }

// From the unit box to the image: one writer's slant, size and place.
class Hand {
 public:
  explicit Hand(Draws& draws)
      : draws_(draws),
        width_(draws.between(11.0F, 19.0F)),
        height_(draws.between(16.0F, 22.0F)),
        shear_(draws.between(-0.35F, 0.35F)),
        bend_(draws.between(-0.35F, 0.35F)),
        centre_{draws.between(12.0F, 16.0F), draws.between(12.0F, 16.0F)} {
    // A rotation without sin and cos: the half-angle's tangent gives both.
    const float t = draws.between(-0.13F, 0.13F);  // ±15 degrees
    cos_ = (1 - t * t) / (1 + t * t);
    sin_ = 2 * t / (1 + t * t);
  }

  Point operator()(Point point) {
    constexpr float shake = 0.025F;
    const float y = point.y - 0.5F + draws_.between(-shake, shake);
    const float x =
        point.x - 0.5F + draws_.between(-shake, shake) - shear_ * y + bend_ * (y * y - 0.1F);
    const Point scaled{x * width_, y * height_};
    return {centre_.x + scaled.x * cos_ - scaled.y * sin_,
            centre_.y + scaled.x * sin_ + scaled.y * cos_};
  }

 private:
  Draws& draws_;
  float width_, height_, shear_, bend_;
  Point centre_;
  float cos_ = 1, sin_ = 0;
};

class Paper {
 public:
  // Ink where the pixel is nearer than `radius` to the line from a to b, fading over one pixel.
  void ink(Point a, Point b, float radius, float strength) {
    const float reach = radius + 1;
    const int left = clamp(std::min(a.x, b.x) - reach), right = clamp(std::max(a.x, b.x) + reach);
    const int top = clamp(std::min(a.y, b.y) - reach), bottom = clamp(std::max(a.y, b.y) + reach);
    const Point d{b.x - a.x, b.y - a.y};
    const float length = std::max(d.x * d.x + d.y * d.y, 1e-6F);
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const Point p{static_cast<float>(x) - a.x, static_cast<float>(y) - a.y};
        const float along = std::clamp((p.x * d.x + p.y * d.y) / length, 0.0F, 1.0F);
        const float dx = p.x - along * d.x, dy = p.y - along * d.y;
        const float distance = std::sqrt(dx * dx + dy * dy);
        float& value = at(x, y);
        value = std::max(value, strength * std::clamp(radius + 0.5F - distance, 0.0F, 1.0F));
      }
    }
  }

  float& at(int x, int y) {
    return values_[static_cast<std::size_t>(y) * digit_side + static_cast<std::size_t>(x)];
  }

 private:
  static int clamp(float position) {
    return static_cast<int>(std::clamp(position, 0.0F, static_cast<float>(digit_side - 1)));
  }

  std::array<float, std::size_t{digit_side} * digit_side> values_{};
};

void draw_strokes(std::span<const Stroke> strokes, Hand& hand, Paper& paper, float radius,
                  float strength) {
  for (const Stroke& stroke : strokes) {
    const auto at = [&](int i) {
      if (stroke.points != 0) return stroke.line[static_cast<std::size_t>(i)];
      return Point{stroke.centre.x + stroke.radius.x * cosine(stroke.from + i),
                   stroke.centre.y + stroke.radius.y * sine(stroke.from + i)};
    };
    const int last = stroke.points != 0 ? static_cast<int>(stroke.points) - 1 : stroke.steps;
    const Point start = hand(at(0));
    Point from = start;
    for (int i = 1; i <= last; ++i) {
      const Point to = i == 16 ? start : hand(at(i));  // a full turn closes
      paper.ink(from, to, radius, strength);
      from = to;
    }
  }
}

}  // namespace

void draw_digit(unsigned digit, Draws& draws, MutableBytes pixels) {
  Paper paper;
  Hand hand(draws);
  const float radius = draws.between(0.6F, 1.7F);
  const float strength = draws.between(0.6F, 1.0F);
  draw_strokes(digits[digit], hand, paper, radius, strength);
  // Without stray lines a classifier could do with counting ink in a few places.
  for (std::uint32_t stray = draws.below(3); stray != 0; --stray) {
    const Point a{draws.between(0, 27), draws.between(0, 27)};
    const Point b{a.x + draws.between(-6, 6), a.y + draws.between(-6, 6)};
    paper.ink(a, b, 0.5F, draws.between(0.3F, 0.9F));
  }
  const float grain = draws.between(0.0F, 0.12F);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    float value = paper.at(static_cast<int>(i % digit_side), static_cast<int>(i / digit_side));
    // Paper stays black where nothing is: specks on one pixel in eight, grain on the ink.
    if (value > 0 || draws.below(8) == 0) value += draws.between(-grain, grain);
    pixels[i] = static_cast<std::byte>(std::clamp(value, 0.0F, 1.0F) * 255.0F + 0.5F);
  }
}

}  // namespace feedrate::converters
