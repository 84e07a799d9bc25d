#include "loader/pixels/shrunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "loader/pixels/render.h"

namespace feedrate::loader {
using namespace formats;

namespace {

View resized(std::uint32_t height, std::uint32_t width, std::uint32_t to) {
  return resized_view({0, 0, height, width}, to, to);
}

TEST(UnitShrunk, images_are_shrunk_only_as_far_as_no_side_is_enlarged_again) {
  EXPECT_EQ(possible_shrink(resized(448, 448, 224)), 2U);
  EXPECT_EQ(possible_shrink(resized(447, 2000, 224)), 1U);
  EXPECT_EQ(possible_shrink(resized(2000, 447, 224)), 1U);
  EXPECT_EQ(possible_shrink(resized(895, 896, 224)), 2U);
  EXPECT_EQ(possible_shrink(resized(896, 896, 224)), 4U);
  EXPECT_EQ(possible_shrink(resized(1792, 1792, 224)), 8U);
  EXPECT_EQ(possible_shrink(resized(9000, 9000, 224)), 8U);
  EXPECT_EQ(possible_shrink(resized(100, 100, 224)), 1U);
  EXPECT_EQ(possible_shrink(crop_view(0, 0, 300, 300)), 1U);
}

// A slope: wherever a view begins, what it shows tells where.
constexpr double slope_down = 0.57735, slope_across = 0.38197;  // per pixel

std::byte height_at(double y, double x) {
  return static_cast<std::byte>(std::lround(slope_down * y + slope_across * x));
}

Image slope(Shape shape) {
  Image image{shape, {}};
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      image.pixels.push_back(height_at(y, x));
    }
  }
  return image;
}

// Means of shrunk x shrunk pixels; at the edges, the slope goes on.
Image shrunk_image(const Image& image, std::uint32_t shrunk) {
  Image small{
      {(image.shape.height + shrunk - 1) / shrunk, (image.shape.width + shrunk - 1) / shrunk, 1},
      {}};
  for (std::uint32_t y = 0; y < small.shape.height; ++y) {
    for (std::uint32_t x = 0; x < small.shape.width; ++x) {
      const double middle = (shrunk - 1) / 2.0;
      small.pixels.push_back(height_at(y * shrunk + middle, x * shrunk + middle));
    }
  }
  return small;
}

Buffer rendered(const View& view, const Image& of, Shape stored, std::uint32_t shrunk) {
  const Rect part = needed_part(view, stored, shrunk);
  EXPECT_LE(part.y + part.height, of.shape.height);
  EXPECT_LE(part.x + part.width, of.shape.width);
  Renderer renderer;
  Buffer seat(std::size_t{view.window.height} * view.window.width);
  renderer.render(
      view, stored,
      {of.pixels.data() + std::size_t{part.y} * of.shape.width + part.x, of.shape.width}, 1, seat,
      shrunk);
  return seat;
}

TEST(UnitShrunk, a_view_shows_the_same_place_of_a_shrunk_image) {
  const Image image = slope({201, 307, 1});
  std::mt19937 random(1);
  for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
    const Image small = shrunk_image(image, shrunk);
    double sum = 0;  // of the differences
    std::size_t count = 0;
    for (int i = 0; i < 200; ++i) {
      Rect crop;
      crop.height = 64 + static_cast<std::uint32_t>(random() % 138);
      crop.width = 64 + static_cast<std::uint32_t>(random() % 244);
      crop.y = static_cast<std::uint32_t>(random() % (image.shape.height - crop.height + 1));
      crop.x = static_cast<std::uint32_t>(random() % (image.shape.width - crop.width + 1));
      const std::uint32_t side = 8;
      View view = resized_view(crop, side, side);
      view.mirrored = random() % 2 == 0;
      view.window = {1, 1, side - 2, side - 2};  // at its edges, the filter is cut off
      const Buffer whole = rendered(view, image, image.shape, 1);
      const Buffer found = rendered(view, small, image.shape, shrunk);
      for (std::size_t at = 0; at < whole.size(); ++at) {
        const int off = std::to_integer<int>(found[at]) - std::to_integer<int>(whole[at]);
        ASSERT_LE(std::abs(off), 2) << "1/" << shrunk << ", from " << crop.y << "," << crop.x;
        sum += off;
      }
      count += whole.size();
    }
    // Each is rounded twice. A shift by half a pixel of the whole image would give 0.2 or 0.3.
    EXPECT_NEAR(sum / static_cast<double>(count), 0, 0.05) << "1/" << shrunk;
  }
}

TEST(UnitShrunk, an_image_that_is_not_shrunk_needs_what_it_always_did) {
  const View view = resized_view({3, 5, 100, 90}, 40, 30);
  const Rect part = needed_part(view, {200, 200, 3}, 1), same = needed_part(view, {200, 200, 3});
  EXPECT_EQ(part.y, same.y);
  EXPECT_EQ(part.width, same.width);
  // 3 … 103 of halves are 1 … 52, of which the filter sees all.
  EXPECT_EQ(needed_part(view, {200, 200, 3}, 2).y, 1U);
  EXPECT_EQ(needed_part(view, {200, 200, 3}, 2).height, 51U);
}

}  // namespace
}  // namespace feedrate::loader
