// Colours and places change as in torchvision, to the bit.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/digests/digest.h"
#include "loader/augment/rand_augment.h"
#include "loader/augment/tones.h"
#include "loader/augment/warp.h"
#include "loader/recipe.h"
#include "tests/support/mixed_image.h"
#include "tests/support/places.h"

namespace feedrate::loader {
using namespace formats;

namespace {

const nlohmann::json& torchvision() {
  static const auto json = [] {
    std::ifstream file(testing::source_directory() / "tests/loader/parity/augmentations.json");
    return nlohmann::json::parse(file);
  }();
  return json;
}

Shape as_shape(const nlohmann::json& sides) { return {sides[0], sides[1], sides[2]}; }

/// The digest of the image after `change`.
template <class Change>
std::string digest_after(Image image, Change change) {
  std::vector<std::uint8_t> scratch(image.shape.bytes());
  change(Canvas{reinterpret_cast<std::uint8_t*>(image.pixels.data()), image.shape},
         std::span(scratch));
  return hex(sha256(image.pixels));
}

void adjust(const std::string& way, double factor, Canvas image, std::span<std::uint8_t> scratch) {
  const auto share = static_cast<float>(factor);
  if (way == "brightness") adjust_brightness(image, share);
  if (way == "contrast") adjust_contrast(image, share);
  if (way == "saturation") adjust_saturation(image, share);
  if (way == "sharpness") adjust_sharpness(image, share, scratch);
  if (way == "hue") adjust_hue(image, factor);
}

TEST(UnitAugmentParity, adjustments_are_torchvisions) {
  const auto& shapes = torchvision().at("shapes");
  int seen = 0;
  for (const auto& row : torchvision().at("adjusted")) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string digest =
          digest_after(testing::mixed_image(as_shape(shapes[i])), [&](Canvas image, auto scratch) {
            adjust(row.at("way"), row.at("factor"), image, scratch);
          });
      EXPECT_EQ(digest, row.at("images")[i])
          << row.at("way") << " " << row.at("factor") << " of " << shapes[i];
      ++seen;
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(UnitAugmentParity, every_colour_turns_as_in_torchvision) {
  Image colours{{86, 86 * 86, 3}, {}};
  for (int red = 0; red < 256; red += 3) {
    for (int green = 0; green < 256; green += 3) {
      for (int blue = 0; blue < 256; blue += 3) {
        for (const int value : {red, green, blue})
          colours.pixels.push_back(static_cast<std::byte>(value));
      }
    }
  }
  for (const auto& row : torchvision().at("hues_of_all_colours")) {
    const std::string digest =
        digest_after(colours, [&](Canvas image, auto) { adjust_hue(image, row.at("turn")); });
    EXPECT_EQ(digest, row.at("sha256")) << row.at("turn");
  }
}

TEST(UnitAugmentParity, changes_of_rand_augment_are_torchvisions) {
  int seen = 0;
  for (const auto& row : torchvision().at("rand_augment")) {
    const std::string digest = digest_after(
        testing::mixed_image(as_shape(row.at("shape"))), [&](Canvas image, auto scratch) {
          const auto change = static_cast<Change>(row.at("change").get<int>());
          const Ranges ranges = usual_ranges(image.shape, torchvision().at("bins"));
          const double size = size_of(change, ranges, row.at("magnitude"));
          change_image(change, row.at("minus") ? -size : size, image, scratch);
        });
    EXPECT_EQ(digest, row.at("sha256")) << row;
    ++seen;
  }
  EXPECT_GT(seen, 200);
}

TEST(UnitAugmentParity, changes_of_trivial_augment_are_torchvisions) {
  int seen = 0;
  for (const auto& row : torchvision().at("trivial_augment")) {
    const std::string digest = digest_after(
        testing::mixed_image(as_shape(torchvision().at("shapes")[0])),
        [&](Canvas image, auto scratch) {
          const auto change = static_cast<Change>(row.at("change").get<int>());
          const double size =
              size_of(change, wide_ranges(torchvision().at("bins")), row.at("magnitude"));
          const bool between = row.at("interpolation") == "bilinear";
          change_image(change, has_sign(change) ? -size : size, image, scratch,
                       {between ? Nearness::bilinear : Nearness::nearest, {9, 80, 200}});
        });
    EXPECT_EQ(digest, row.at("sha256")) << row;
    ++seen;
  }
  EXPECT_GT(seen, 150);
}

// Of 45 degrees, the sine is next to half of the last digit that Pillow keeps.
TEST(UnitAugmentParity, turned_images_are_torchvisions) {
  for (const auto& row : torchvision().at("turned")) {
    const std::string digest =
        digest_after(testing::mixed_image(as_shape(torchvision().at("shapes")[0])),
                     [&](Canvas image, auto scratch) {
                       warp(image, rotation(row.at("degrees"), centre_of(image.shape)), scratch,
                            {Nearness::bilinear});
                     });
    EXPECT_EQ(digest, row.at("sha256")) << row;
  }
}

// Where an image of 255 was erased: y, x, height, width; nothing when it was not.
std::array<double, 4> erased_part(const std::vector<std::uint8_t>& pixels, Shape shape) {
  const std::size_t row = shape.width;
  const auto black = [&](std::size_t at) { return pixels[3 * at] == 0; };
  std::size_t first = 0, end = pixels.size() / 3;
  while (first < end && !black(first)) ++first;
  while (end > first && !black(end - 1)) --end;
  const std::size_t y = first / row, x = first % row;
  return {static_cast<double>(y), static_cast<double>(x),
          static_cast<double>((end - 1) / row - y + 1),
          static_cast<double>((end - 1) % row - x + 1)};
}

// The share of pixels that are erased is the same whatever the colour is, and no other pixel changes.
TEST(UnitAugmentParity, what_is_erased_has_the_colour) {
  const auto erased = [](const char* text, std::uint32_t channels) {
    const Shape shape{20, 30, channels};
    std::vector<std::uint8_t> pixels(shape.bytes(), 255);
    Draws draws(SampleRandom(3, 1, 5), draws_of_a_part);
    recipe(text).operations().front()->apply({pixels.data(), shape}, draws, {});
    std::map<std::vector<std::uint8_t>, int> counts;
    for (std::size_t at = 0; at < pixels.size(); at += channels) {
      ++counts[{pixels.begin() + static_cast<std::ptrdiff_t>(at),
                pixels.begin() + static_cast<std::ptrdiff_t>(at + channels)}];
    }
    return counts;
  };
  using Pixel = std::vector<std::uint8_t>;
  const int black = erased("random-erasing:share=1", 3).at({0, 0, 0});
  EXPECT_GT(black, 0);
  for (const auto& [text, colour] : std::map<const char*, Pixel>{
           {"random-erasing:share=1:value=124:green=116:blue=104", {124, 116, 104}},
           {"random-erasing:share=1:value=7", {7, 7, 7}},
           {"random-erasing:share=1:value=7:blue=0", {7, 7, 0}}}) {
    const auto counts = erased(text, 3);
    EXPECT_EQ(counts, (std::map<Pixel, int>{{colour, black}, {{255, 255, 255}, 600 - black}}))
        << text;
  }
  EXPECT_EQ(erased("random-erasing:share=1:value=124:green=116", 1).at({124}), black);
}

TEST(UnitAugmentParity, erased_rectangles_are_spread_as_torchvisions_are) {
  constexpr int count = 5000;
  const Shape shape{224, 160, 3};
  const auto& operation = *recipe("random-erasing:share=1").operations().front();
  std::array<double, 4> sums{}, squares{};
  for (int i = 0; i < count; ++i) {
    std::vector<std::uint8_t> pixels(shape.bytes(), 255);
    Draws draws(SampleRandom(3, 1, static_cast<std::uint64_t>(i)), draws_of_a_part);
    operation.apply({pixels.data(), shape}, draws, {});
    const auto part = erased_part(pixels, shape);
    for (std::size_t k = 0; k < 4; ++k) {
      sums[k] += part[k];
      squares[k] += part[k] * part[k];
    }
  }
  const auto& theirs = torchvision().at("erased_of_224x160");
  for (std::size_t k = 0; k < 4; ++k) {
    const double mean = sums[k] / count;
    const double deviation = std::sqrt(squares[k] / count - mean * mean);
    const double their_deviation = theirs.at("deviation")[k];
    EXPECT_NEAR(mean, theirs.at("mean")[k].get<double>(),
                their_deviation * 4.2 * std::sqrt(1.0 / count + 1.0 / 50'000));
    EXPECT_NEAR(deviation / their_deviation, 1.0, 0.05);
  }
}

}  // namespace
}  // namespace feedrate::loader
