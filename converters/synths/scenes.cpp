#include "converters/synths/scenes.h"

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

float length(float x, float y) { return std::sqrt(x * x + y * y); }
float length(Point p) { return length(p.x, p.y); }
float largest(Point p) { return std::max(std::abs(p.x), std::abs(p.y)); }
float smallest(Point p) { return std::min(std::abs(p.x), std::abs(p.y)); }

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr Named<float (*)(Point)> forms[scene_forms] = {
    {"disc", [](Point p) { return length(p) - .95F; }},
    {"ring", [](Point p) { return std::abs(length(p) - .75F) - .2F; }},
    {"square", [](Point p) { return largest(p) - .85F; }},
    {"frame", [](Point p) { return std::abs(largest(p) - .75F) - .17F; }},
    {"triangle", [](Point p) { return std::max(p.y - .8F, 1.8F * std::abs(p.x) - .9F - p.y); }},
    {"cross", [](Point p) { return std::max(largest(p) - 1, smallest(p) - .28F); }},
    {"bar", [](Point p) { return std::max(std::abs(p.x) - 1, std::abs(p.y) - .3F); }},
    {"half", [](Point p) { return std::max(length(p) - 1, p.y); }},
    {"pair", [](Point p) { return length(std::abs(p.x) - .55F, p.y) - .42F; }},
    {"stripes",
     [](Point p) { return std::max(largest(p) - .9F, .18F - std::abs(std::abs(p.y) - .38F)); }}};

constexpr Named<Colour> colours[10] = {
    {"red", {.9F, .15F, .15F}},   {"green", {.15F, .75F, .25F}}, {"blue", {.15F, .25F, .9F}},
    {"yellow", {.95F, .9F, .2F}}, {"purple", {.6F, .2F, .7F}},   {"cyan", {.2F, .85F, .9F}},
    {"orange", {.95F, .5F, .1F}}, {"brown", {.45F, .28F, .1F}},  {"white", {.97F, .97F, .97F}},
    {"black", {.05F, .05F, .05F}}};

// Two sets of stripes, each across its direction. The ground has its second colour where exactly
// one of the two stripes is odd.
struct Ground {
  Point first, second;
};
constexpr Named<Ground> grounds[10] = {{"plain", {{}, {}}},
                                       {"rows", {{0, 1}, {}}},
                                       {"columns", {{1, 0}, {}}},
                                       {"slopes", {{1, 1}, {}}},
                                       {"descents", {{1, -1}, {}}},
                                       {"checks", {{1, 0}, {0, 1}}},
                                       {"bricks", {{.5F, 0}, {0, 2}}},
                                       {"posts", {{2, 0}, {0, .5F}}},
                                       {"diamonds", {{1, 1}, {1, -1}}},
                                       {"weave", {{1, 0}, {1, 1}}}};

bool is_figured(const Ground& ground, Point at) {
  const auto stripe = [&](Point across) {
    return static_cast<int>(std::floor(across.x * at.x + across.y * at.y));
  };
  return ((stripe(ground.first) ^ stripe(ground.second)) & 1) != 0;
}

Colour any_colour(Draws& draws) {
  return {draws.between(0, 1), draws.between(0, 1), draws.between(0, 1)};
}

}  // namespace

std::string_view form_name(unsigned form) { return forms[form].name; }

// Labels that differ in one digit differ in up to three features, so that even a few of the
// thousand classes differ in more than one.
Look look_of(unsigned label) {
  const unsigned ones = label % 10, tens = label / 10 % 10, hundreds = label / 100 % 10;
  return {(ones + tens + hundreds) % 10, (tens + hundreds) % 10, hundreds};
}

void draw_scene(Look look, Draws& draws, Shape shape, MutableBytes pixels) {
  const auto width = static_cast<float>(shape.width), height = static_cast<float>(shape.height);
  const float side = std::min(width, height);
  const Colour above = any_colour(draws), below = mix(above, any_colour(draws), .5F);
  const float contrast =
      draws.between(.4F, .8F);  // before the call: arguments are evaluated in any order
  const Colour figure = mix(above, any_colour(draws), contrast);
  const float stripes = 1 / (4 + side * draws.between(.04F, .1F));  // per pixel
  const Ground ground = grounds[look.ground].value;
  Picture picture;
  picture.ground = [=](Point at) {
    const Colour plain = mix(above, below, at.y / height);
    const Point place{at.x * stripes, at.y * stripes};
    return is_figured(ground, place) ? mix(plain, figure, .7F) : plain;
  };
  picture.form = forms[look.form].value;
  picture.colour = mix(colours[look.colour].value, any_colour(draws), .2F);
  picture.centre = {draws.between(.35F, .65F) * width, draws.between(.35F, .65F) * height};
  picture.size = draws.between(.18F, .38F) * side;
  picture.turn = draws.between(-.2F, .2F);  // up to 23 degrees
  picture.grain = draws.between(.04F, .16F);
  render(picture, draws, shape, pixels);
}

}  // namespace feedrate::converters
