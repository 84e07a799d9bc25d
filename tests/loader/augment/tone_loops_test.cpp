// The loops of colour changes: the same bits with all instructions, and those of Pillow's arithmetic.

#include "loader/augment/tone_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace feedrate::loader {
namespace {

using Values = std::vector<std::uint8_t>;
using Colour = std::array<std::uint8_t, 3>;

struct Planes {
  std::array<Values, 3> of;
  ColourPlanes view() { return {of[0].data(), of[1].data(), of[2].data(), of[0].size()}; }
  bool operator==(const Planes&) const = default;
};

Values random_values(std::size_t count, std::mt19937& random) {
  Values values(count);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
  return values;
}

// Pillow's rgb2hsv_row and hsv2rgb, with its mix of 32 and 64 bits.
Colour turned(const Colour& colour, std::uint8_t turn) {
  const auto [red, green, blue] = colour;
  const std::uint8_t highest = std::max({red, green, blue}), lowest = std::min({red, green, blue});
  if (highest == lowest) return colour;
  const auto range = static_cast<float>(highest - lowest);
  const float r = static_cast<float>(highest - red) / range;
  const float g = static_cast<float>(highest - green) / range;
  const float b = static_cast<float>(highest - blue) / range;
  const float sixths = red == highest     ? b - g
                       : green == highest ? static_cast<float>(2.0 + r - b)
                                          : static_cast<float>(4.0 + g - r);
  const double turns = sixths / 6.0 + 1.0;
  const auto circle = static_cast<float>(turns >= 1.0 ? turns - 1.0 : turns);
  const auto hue = static_cast<std::uint8_t>(
      static_cast<std::uint8_t>(std::min(255, static_cast<int>(circle * 255.0))) + turn);
  const auto saturation = static_cast<std::uint8_t>(range / static_cast<float>(highest) * 255.0);
  if (saturation == 0) return {highest, highest, highest};
  const double place = static_cast<float>(hue) * 6.0 / 255.0;
  const int sector = static_cast<int>(place);
  const double part = static_cast<float>(place - sector), value = highest;
  const double share = static_cast<float>(static_cast<float>(saturation) / 255.0);
  const auto rounded = [](double all) { return static_cast<std::uint8_t>(all + 0.5); };
  const std::uint8_t v = highest, p = rounded(value * (1.0 - share)),
                     q = rounded(value * (1.0 - share * part)),
                     t = rounded(value * (1.0 - share * (1.0 - part)));
  const Colour sectors[6] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  return sectors[sector % 6];
}

TEST(UnitToneLoops, every_colour_turns_as_in_pillow) {
  constexpr std::size_t row = 1U << 16;
  Planes colours;
  for (Values& plane : colours.of) plane.resize(row);
  for (std::uint32_t red = 0; red < 256; ++red) {
    const auto turn = static_cast<std::uint8_t>(7 * red + 26);
    std::vector<Colour> expected(row);
    for (std::uint32_t rest = 0; rest < row; ++rest) {
      const Colour colour{static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(rest >> 8),
                          static_cast<std::uint8_t>(rest)};
      expected[rest] = turned(colour, turn);
      for (std::size_t c = 0; c < 3; ++c) colours.of[c][rest] = colour[c];
    }
    for (const ToneLoops& loops : runnable_tone_loops()) {
      Planes found = colours;
      loops.turn_hues(found.view(), turn);
      for (std::size_t i = 0; i < row; ++i) {
        const Colour now{found.of[0][i], found.of[1][i], found.of[2][i]};
        ASSERT_EQ(now, expected[i]) << red << ", " << i / 256 << ", " << i % 256 << ", " << turn;
      }
    }
  }
}

TEST(UnitToneLoops, all_instructions_give_the_same_bits) {
  std::mt19937 random(1);
  const ToneLoops& plain = runnable_tone_loops().back();
  for (std::size_t count = 0; count < 100; ++count) {
    const float factor = static_cast<float>(random() % 2000) / 1000.0F;
    const auto value = static_cast<std::uint8_t>(random());
    const Values values = random_values(count, random);
    const Planes planes{
        {random_values(count, random), random_values(count, random), random_values(count, random)}};
    const std::size_t channels = 1 + count % 3;
    const Values rows = random_values(3 * (count + 2 * channels), random);
    const std::uint8_t* const first = rows.data() + channels;
    const ThreeRows three{first, first + count + 2 * channels, first + 2 * (count + 2 * channels),
                          channels, count};
    const std::array<const std::uint8_t*, 3> lines{first, values.data(), rows.data()};
    const std::array<float, 3> weights{0.25F, factor / 4, 0.1F};  // of at most 1 in all
    const auto after = [&](const ToneLoops& loops) {
      Values blended = values, sharpened(count);
      loops.blend_all(blended, value, factor);
      Planes saturated = planes, turned = planes;
      loops.saturate(saturated.view(), factor);
      loops.turn_hues(turned.view(), value);
      loops.sharpen(three, factor, sharpened.data());
      Planes same = planes;
      std::vector<float> weighed(count + 2 * channels);
      loops.weigh_rows({lines.data(), weights.data(), lines.size()}, count, weighed.data());
      Values smooth(count);
      loops.weigh_neighbours(weighed.data(), {weights.data(), 3, channels}, count, smooth.data());
      return std::tuple(blended, saturated, turned, sharpened, weighed, smooth,
                        loops.sum_of_lumas(same.view()));
    };
    const auto expected = after(plain);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(std::get<0>(expected)[i], blend(value, values[i], factor));
    for (const ToneLoops& loops : runnable_tone_loops()) ASSERT_EQ(after(loops), expected) << count;
  }
}

}  // namespace
}  // namespace feedrate::loader
