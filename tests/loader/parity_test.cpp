// The recipes for ImageNet give torchvision's pixels to the bit, and its distribution of crops.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/digests/digest.h"
#include "loader/pixels/render.h"
#include "loader/recipe.h"
#include "loader/recipes/random_resized_crop.h"
#include "tests/support/mixed_image.h"
#include "tests/support/places.h"

namespace feedrate::loader {
using namespace formats;

namespace {

const nlohmann::json& torchvision() {
  static const auto json = [] {
    std::ifstream file(testing::source_directory() / "tests/loader/parity/recipes.json");
    return nlohmann::json::parse(file);
  }();
  return json;
}

std::string digest_of(const Image& image, const View& view) {
  Renderer renderer;
  const Rect part = needed_part(view, image.shape);
  Buffer seat(std::size_t{3} * view.window.height * view.window.width);
  renderer.render(view, image.shape, rows_of_part(image.pixels.data(), image.shape, part), 3, seat);
  return hex(sha256(seat));
}

Rect as_rect(const nlohmann::json& sides) { return {sides[0], sides[1], sides[2], sides[3]}; }

TEST(UnitParity, imagenet_eval_is_torchvisions_resize_and_centre_crop) {
  for (const auto& stored : torchvision().at("imagenet_eval")) {
    const auto& sides = stored.at("shape");
    const Image image = testing::mixed_image({sides[0], sides[1], sides[2]});
    const View view = recipe("imagenet-eval").view(image.shape, SampleRandom(0, 0, 0));
    EXPECT_EQ(digest_of(image, view), stored.at("sha256")) << sides;
  }
}

TEST(UnitParity, a_resized_crop_is_torchvisions) {
  for (const auto& stored : torchvision().at("resized_crop")) {
    const Image image = testing::mixed_image({375, 500, stored.at("channels")});
    View view = resized_view(as_rect(stored.at("crop")), 224, 224);
    EXPECT_EQ(digest_of(image, view), stored.at("sha256")) << stored;
    view.mirrored = true;
    EXPECT_EQ(digest_of(image, view), stored.at("mirrored")) << stored;
  }
}

TEST(UnitParity, the_fallback_is_torchvisions_central_crop) {
  for (const auto& stored : torchvision().at("fallback")) {
    const Shape shape{stored.at("shape")[0], stored.at("shape")[1], 3};
    for (std::uint64_t index = 0; index < 50; ++index) {
      EXPECT_EQ(random_resized_crop(shape, SampleRandom(1, 2, index)), as_rect(stored.at("crop")))
          << stored;
    }
  }
}

TEST(UnitParity, crops_are_spread_as_torchvisions_are) {
  constexpr int count = 100'000;
  std::array<double, 4> sums{}, squares{};
  for (int i = 0; i < count; ++i) {
    const Rect crop =
        random_resized_crop({375, 500, 3}, SampleRandom(9, 1, static_cast<std::uint64_t>(i)));
    const std::array<double, 4> values{static_cast<double>(crop.y), static_cast<double>(crop.x),
                                       static_cast<double>(crop.height),
                                       static_cast<double>(crop.width)};
    for (std::size_t k = 0; k < 4; ++k) {
      sums[k] += values[k];
      squares[k] += values[k] * values[k];
    }
  }
  for (std::size_t k = 0; k < 4; ++k) {
    const double mean = sums[k] / count;
    const double deviation = std::sqrt(squares[k] / count - mean * mean);
    const double their_deviation = torchvision().at("deviation_of_375x500")[k];
    // The means of two such samples differ by more than this once in 40,000 runs.
    EXPECT_NEAR(mean, torchvision().at("mean_of_375x500")[k].get<double>(),
                their_deviation * 4.2 * std::sqrt(2.0 / count));
    EXPECT_NEAR(deviation / their_deviation, 1.0, 0.02);
  }
}

}  // namespace
}  // namespace feedrate::loader
