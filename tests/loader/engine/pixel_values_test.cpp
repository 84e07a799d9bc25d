#include "loader/engine/pixel_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "loader/pixels/half.h"
#include "tests/support/expect_error.h"
#include "tests/support/fenced_bytes.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using testing::expect_error;
using testing::Fence;
using testing::FencedBytes;

const PixelScales scales{
    {{0.017F, 123.675F}, {0.0175F, 116.28F}, {0.01743F, 103.53F}, {99.0F, 99.0F}}};

constexpr std::pair<PixelType, PixelLayout> conversions[] = {
    {PixelType::u8, PixelLayout::planar},       {PixelType::f32, PixelLayout::planar},
    {PixelType::f16, PixelLayout::planar},      {PixelType::f32, PixelLayout::interleaved},
    {PixelType::f16, PixelLayout::interleaved},
};
const PixelFormula formulas[] = {{scales}, {scales, {58.395F, 57.12F, 57.375F}}};

TEST(UnitPixelValues, vector_and_plain_code_write_the_same_bits_and_no_others) {
  std::mt19937 random(1);
  for (const std::uint32_t channels : {1U, 3U}) {
    for (const auto& [type, layout] : conversions) {
      if (channels == 1 && type == PixelType::u8) continue;  // the same as they are
      const auto all = runnable_value_makers(channels, type, layout);
      for (std::size_t count = 0; count < 120; ++count) {
        const Fence fence = count % 2 == 0 ? Fence::before : Fence::behind;
        const PixelFormula& formula = formulas[count / 2 % 2];
        const FencedBytes pixels(count * channels, fence);
        for (std::byte& byte : pixels.bytes()) byte = static_cast<std::byte>(random());
        const std::size_t size = count * channels * bytes_of(type);
        const FencedBytes plain(size, fence), fast(size, fence);
        all.back()(pixels.data(), count, formula, plain.data());
        for (const PixelsToValues make : all) {
          std::fill(fast.bytes().begin(), fast.bytes().end(), std::byte{99});
          make(pixels.data(), count, formula, fast.data());
          ASSERT_TRUE(std::equal(fast.bytes().begin(), fast.bytes().end(), plain.data()))
              << count << " pixels of " << channels << " channels to " << name(type) << ", "
              << name(layout);
        }
      }
    }
  }
}

TEST(UnitPixelValues, numbers_are_pixel_minus_mean_times_scale_or_divided_in_either_layout) {
  constexpr std::size_t count = 256;
  Buffer pixels;
  for (int i = 0; i < 256; ++i) {
    for (const int pixel : {i, 255 - i, i / 2}) pixels.push_back(static_cast<std::byte>(pixel));
  }
  for (const auto& [type, layout] : conversions) {
    for (const PixelFormula& formula : formulas) {
      Buffer made(3 * count * bytes_of(type));
      value_maker(3, type, layout)(pixels.data(), count, formula, made.data());
      for (std::size_t at = 0; at < 3 * count; ++at) {
        const bool planes = layout == PixelLayout::planar;
        const std::size_t i = planes ? at % count : at / 3, c = planes ? at / count : at % 3;
        const auto pixel = std::to_integer<std::uint8_t>(pixels[3 * i + c]);
        const float difference = static_cast<float>(pixel) - scales[c].mean;
        const float value = formula.deviations[0] != 0 ? difference / formula.deviations[c]
                                                       : difference * scales[c].scale;
        const std::uint32_t bits = type == PixelType::f32   ? std::bit_cast<std::uint32_t>(value)
                                   : type == PixelType::f16 ? half_bits(value)
                                                            : pixel;
        std::uint32_t found = 0;
        std::memcpy(&found, made.data() + at * bytes_of(type), bytes_of(type));
        ASSERT_EQ(found, bits) << name(type) << " " << name(layout) << ", value " << at;
      }
    }
  }
}

// The value of a half, by definition.
float value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(half >> 15 != 0 ? -size : size);
}

TEST(UnitHalf, every_half_is_exact_and_values_in_between_round_to_nearest_even) {
  for (std::uint32_t sign : {0U, 0x8000U}) {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {  // the largest has no successor
      const auto half = static_cast<std::uint16_t>(sign | bits);
      const auto next = static_cast<std::uint16_t>(half + 1);
      const float low = value_of_half(half), high = value_of_half(next);
      ASSERT_EQ(half_bits(low), half);
      const float middle = (low + high) / 2;  // exact: a float has 13 more bits
      ASSERT_EQ(half_bits(middle), bits % 2 == 0 ? half : next) << middle;
      ASSERT_EQ(half_bits(std::nextafter(middle, low)), half) << middle;
      ASSERT_EQ(half_bits(std::nextafter(middle, high)), next) << middle;
    }
  }
  EXPECT_EQ(half_bits(65504), 0x7bff);
  EXPECT_EQ(half_bits(65519.996F), 0x7bff);
  EXPECT_EQ(half_bits(65520), 0x7c00) << "rounds to infinity";
  EXPECT_EQ(half_bits(-1e30F), 0xfc00);
  EXPECT_EQ(half_bits(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(half_bits(1e-30F), 0);
  EXPECT_GT(half_bits(std::nanf("")) & 0x7fff, 0x7c00);
}

TEST(UnitHalf, is_what_the_instruction_of_this_build_gives) {
  std::mt19937 random(1);
  for (int i = 0; i < 3'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    ASSERT_EQ(converted_to_half(value), half_bits(value)) << value;
  }
}

TEST(UnitPixelScale, one_value_serves_all_channels_and_wrong_counts_are_refused) {
  const PixelScales plain = make_scales({}, {}, 3);
  EXPECT_EQ(plain, (PixelScales{}));
  EXPECT_EQ(plain[1], (PixelScale{1, 0}));
  const PixelScales scaled = make_scales({120}, {64, 32, 16}, 3);
  EXPECT_EQ(scaled[0], (PixelScale{1.0F / 64, 120}));
  EXPECT_EQ(scaled[2], (PixelScale{1.0F / 16, 120}));
  expect_error([] { make_scales({1, 2}, {}, 3); }, {"2 means for images of 3 channels"});
  expect_error([] { make_scales({}, {1, 2, 3}, 1); }, {"3 deviations", "1 channel;"});
  expect_error([] { make_scales({}, {0}, 1); }, {"above 0, not 0"});
}

}  // namespace
}  // namespace feedrate::loader
