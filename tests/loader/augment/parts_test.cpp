// Parts of recipes that change pixels, one at a time: what they make of images, and what they refuse.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "loader/recipe.h"
#include "tests/support/expect_error.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using testing::expect_error;

// What the only operation of a recipe makes of an image.
std::vector<std::uint8_t> operated(std::string_view text, Shape before,
                                   std::vector<std::uint8_t> pixels, std::uint64_t index = 0) {
  const Operation& operation = *recipe(text).operations().front();
  pixels.resize(operation.shape(before).bytes());
  std::vector<std::uint8_t> scratch(operation.scratch_bytes(before));
  Draws draws(SampleRandom(1, 1, index), draws_of_a_part);
  operation.apply({pixels.data(), before}, draws, scratch);
  return pixels;
}

TEST(UnitAugmentParts, padding_is_a_colour_or_mirrored_pixels) {
  using Pixels = std::vector<std::uint8_t>;
  const Shape small{1, 4, 1};
  const Pixels pixels{1, 2, 3, 4};
  for (const auto& [mode, row] :
       std::map<std::string, Pixels>{{"constant", {7, 7, 1, 2, 3, 4, 7}},
                                     {"edge", {1, 1, 1, 2, 3, 4, 4}},
                                     {"reflect", {3, 2, 1, 2, 3, 4, 3}},
                                     {"symmetric", {2, 1, 1, 2, 3, 4, 4}}}) {
    EXPECT_EQ(operated("pad:all=0:left=2:right=1:value=7:mode=" + mode, small, pixels), row)
        << mode;
  }
  EXPECT_EQ(
      operated("pad:all=1:value=9:green=8", {1, 1, 3}, {1, 2, 3}),
      (Pixels{9, 8, 9, 9, 8, 9, 9, 8, 9, 9, 8, 9, 1, 2, 3, 9, 8, 9, 9, 8, 9, 9, 8, 9, 9, 8, 9}));
  EXPECT_EQ(recipe("pad:all=2+center-crop:size=32").shape({30, 40, 3}), (Shape{32, 32, 3}));
  EXPECT_EQ(recipe("pad+random-crop:size=32+flip").evaluation().name(), "pad+center-crop:size=32");
  for (const char* mode : {"reflect", "symmetric"}) {
    expect_error(
        [&] {
          recipe(join("pad:all=9:mode=", mode)).shape({8, 20, 3});
        },
        {"recipe pad: an image 8 pixels high has no 9 pixels beside its edge"});
  }
}

TEST(UnitAugmentParts, blurring_weighs_neighbours_on_both_axes) {
  const Shape shape{13, 17, 3};
  std::vector<std::uint8_t> pixels(shape.bytes());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 2654435761U >> 24U);
  const auto weights = [](int taps) {
    std::vector<double> all;
    for (int i = -(taps / 2); i <= taps / 2; ++i) all.push_back(std::exp(-i * i / (2 * 1.7 * 1.7)));
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    for (double& one : all) one /= sum;
    return all;
  };
  const auto at = [](int place, int side) {
    return place < 0 ? -place : place < side ? place : 2 * side - 2 - place;
  };
  const auto found = operated("gaussian-blur:height=5:width=9:sigma=1.7-1.7", shape, pixels);
  const auto down = weights(5), across = weights(9);
  int differ = 0;
  for (int i = 0; i < static_cast<int>(pixels.size()); ++i) {
    double sum = 0;
    for (int y = -2; y <= 2; ++y) {
      for (int x = -4; x <= 4; ++x) {
        const int row = at(i / 51 + y, 13), column = at(i % 51 / 3 + x, 17);
        sum += down[static_cast<std::size_t>(y + 2)] * across[static_cast<std::size_t>(x + 4)] *
               pixels[static_cast<std::size_t>(51 * row + 3 * column + i % 3)];
      }
    }
    EXPECT_NEAR(found[static_cast<std::size_t>(i)], sum, 0.501) << i;
    differ += found[static_cast<std::size_t>(i)] != pixels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  EXPECT_GT(differ, 500);
  EXPECT_EQ(operated("gaussian-blur:share=0:size=3", shape, pixels), pixels);
  expect_error([] { recipe("gaussian-blur:size=4"); }, {"an odd number of pixels, found 4"});
  expect_error(
      [] {
        recipe("gaussian-blur:size=9").shape({4, 20, 3});
      },
      {"a kernel of 9 x 9 does not fit an image of 4 x 20"});
}

TEST(UnitAugmentParts, some_parts_are_applied_together_or_not_at_all) {
  const Shape one{1, 1, 3};
  std::map<std::vector<std::uint8_t>, int> counts;
  const char* const text = "apply:share=0.25:parts=2+invert:share=1+posterize:bits=1:share=1";
  for (std::uint64_t index = 0; index < 4000; ++index)
    ++counts[operated(text, one, {0, 250, 10}, index)];
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_NEAR((counts[{128, 0, 128}]), 1000, 150);
  EXPECT_EQ((counts[{0, 250, 10}] + counts[{128, 0, 128}]), 4000);
  for (const auto& [wrong, words] : std::map<const char*, const char*>{
           {"apply+flip", "recipe apply: flip changes no pixels, and cannot be one of its parts"},
           {"apply:parts=2+invert", "recipe apply: expected 2 parts behind it, found 1"},
           {"apply:parts=2+apply+invert", "cannot stand among the parts of another apply"}}) {
    expect_error([&] { recipe(wrong); }, {words});
  }
  expect_error([] { recipe("apply+pad").shape({8, 8, 3}); }, {"changes the size of images"});
  EXPECT_EQ(recipe("random-grey:share=1+invert+apply+invert").evaluation().name(),
            "random-grey:share=1");
}

}  // namespace
}  // namespace feedrate::loader
