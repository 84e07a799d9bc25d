#include "loader/pixels/render.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/codec.h"
#include "loader/pixels/pixel_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/sample_images.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using testing::Fence;
using testing::FencedBytes;
using testing::make_image;

Buffer rendered(const View& view, Shape stored, PixelRows part, std::uint32_t channels) {
  Renderer renderer;
  Buffer seat(std::size_t{channels} * view.window.height * view.window.width, std::byte{77});
  renderer.render(view, stored, part, channels, seat);
  return seat;
}

// The definition, step by step over whole images.
Buffer reference(const Image& image, const View& view, std::uint32_t channels) {
  const std::uint32_t stored = image.shape.channels;
  Image crop{{view.height, view.width, stored}, {}};
  crop.pixels.resize(crop.shape.bytes());
  for (std::uint32_t y = 0; y < view.height; ++y) {
    for (std::uint32_t x = 0; x < view.width; ++x) {
      const std::int64_t from_y = std::int64_t{view.y} + y, from_x = std::int64_t{view.x} + x;
      if (from_y < 0 || from_y >= image.shape.height) continue;
      if (from_x < 0 || from_x >= image.shape.width) continue;
      for (std::uint32_t c = 0; c < stored; ++c) {
        const auto at = (from_y * image.shape.width + from_x) * stored + c;
        crop.pixels[(std::size_t{y} * view.width + x) * stored + c] =
            image.pixels[static_cast<std::size_t>(at)];
      }
    }
  }
  const Shape scaled_shape{view.scaled_height, view.scaled_width, stored};
  Buffer scaled(scaled_shape.bytes());
  ResizeScratch scratch;
  resize(crop, scaled_shape, scaled, scratch, view.interpolation);
  Buffer seat;
  for (std::uint32_t y = 0; y < view.window.height; ++y) {
    for (std::uint32_t x = 0; x < view.window.width; ++x) {
      const std::uint32_t column = view.mirrored ? view.window.width - 1 - x : x;
      const std::size_t at =
          (std::size_t{view.window.y + y} * view.scaled_width + view.window.x + column) * stored;
      const auto value = [&](std::uint32_t c) {
        return std::to_integer<std::uint32_t>(scaled[at + c]);
      };
      if (stored > channels) {  // as Pillow converts to mode L
        seat.push_back(static_cast<std::byte>(
            (value(0) * 19595 + value(1) * 38470 + value(2) * 7471 + 32768) / 65536));
        continue;
      }
      for (std::uint32_t c = 0; c < channels; ++c)
        seat.push_back(scaled[at + (stored == 3 ? c : 0)]);
    }
  }
  return seat;
}

Rect random_window(std::mt19937& random, std::uint32_t height, std::uint32_t width) {
  Rect window;
  window.y = static_cast<std::uint32_t>(random() % height);
  window.x = static_cast<std::uint32_t>(random() % width);
  window.height = 1 + static_cast<std::uint32_t>(random() % (height - window.y));
  window.width = 1 + static_cast<std::uint32_t>(random() % (width - window.x));
  return random() % 3 == 0 ? Rect{0, 0, height, width} : window;
}

View random_view(std::mt19937& random, Shape stored) {
  View view;
  if (random() % 2 == 0) {  // padded
    view = crop_view(static_cast<std::int32_t>(random() % 60) - 30,
                     static_cast<std::int32_t>(random() % 60) - 30,
                     1 + static_cast<std::uint32_t>(random() % 50),
                     1 + static_cast<std::uint32_t>(random() % 50));
  } else {
    view = resized_view(random_window(random, stored.height, stored.width),
                        1 + static_cast<std::uint32_t>(random() % 60),
                        1 + static_cast<std::uint32_t>(random() % 60),
                        random() % 2 == 0 ? Interpolation::bilinear : Interpolation::bicubic);
  }
  view.window = random_window(random, view.scaled_height, view.scaled_width);
  view.mirrored = random() % 2 == 0;
  return view;
}

TEST(UnitRender, a_view_is_crop_resize_window_and_mirror_one_after_the_other) {
  std::mt19937 random(3);
  Buffer memory;
  for (std::uint32_t round = 0; round < 600; ++round) {
    const Shape shape{1 + static_cast<std::uint32_t>(random() % 50),
                      1 + static_cast<std::uint32_t>(random() % 50), round % 3 == 0 ? 1U : 3U};
    const std::uint32_t channels = round % 2 == 0 ? 3 : 1;
    const Image image = make_image(shape, round);
    const View view = random_view(random, shape);
    check_view(view, shape);
    const Rect part = needed_part(view, shape);
    PixelRows rows;
    if (part.height > 0 && part.width > 0) {
      rows = raw_codec.decode_part(image.pixels, shape, part, memory);
    }
    ASSERT_EQ(rendered(view, shape, rows, channels), reference(image, view, channels)) << round;
  }
}

TEST(UnitRender, only_the_pixels_that_a_view_needs_are_requested) {
  // The middle of a large image at half its size: that part and its neighbours.
  View view = resized_view({0, 0, 1000, 800}, 500, 400);
  view.window = {200, 100, 50, 40};
  const Rect part = needed_part(view, {1000, 800, 3});
  EXPECT_EQ(part, (Rect{399, 199, 102, 82}));
  // A crop that is shifted out of the image needs the rest of the image.
  EXPECT_EQ(needed_part(crop_view(-4, 3, 32, 32), {32, 32, 3}), (Rect{0, 3, 28, 29}));
  const Rect nothing = needed_part(crop_view(40, 0, 8, 8), {32, 32, 3});
  EXPECT_EQ(nothing.height, 0U);
}

TEST(UnitRender, no_access_outside_the_part_or_the_seat) {
  std::mt19937 random(5);
  Renderer renderer;
  for (std::uint32_t round = 0; round < 1000; ++round) {
    const Shape shape{1 + static_cast<std::uint32_t>(random() % 120),
                      1 + static_cast<std::uint32_t>(random() % 120), round % 3 == 0 ? 1U : 3U};
    const View view = random_view(random, shape);
    const Rect part = needed_part(view, shape);
    const std::uint32_t channels = round % 2 == 0 ? 3 : 1;
    const Fence fence = round % 4 < 2 ? Fence::behind : Fence::before;
    const std::size_t row_bytes = std::size_t{part.width} * shape.channels;
    const FencedBytes pixels(part.height * row_bytes, fence);
    const FencedBytes seat(std::size_t{channels} * view.window.height * view.window.width, fence);
    renderer.render(view, shape, {pixels.data(), row_bytes}, channels, seat.bytes());
  }
}

TEST(UnitRender, vector_and_plain_copies_give_the_same_bytes) {
  std::mt19937 random(4);
  for (std::size_t count = 0; count < 100; ++count) {
    for (const auto& [stored, wanted] :
         {std::pair(1U, 1U), std::pair(1U, 3U), std::pair(3U, 1U), std::pair(3U, 3U)}) {
      for (const bool mirrored : {false, true}) {
        Buffer from(stored * count), plain(wanted * count), fast(wanted * count);
        for (std::byte& byte : from) byte = static_cast<std::byte>(random());
        plain_pixel_copier(stored, wanted, mirrored)(from.data(), count, plain.data());
        pixel_copier(stored, wanted, mirrored)(from.data(), count, fast.data());
        EXPECT_EQ(fast, plain) << count << " of " << stored << " to " << wanted << mirrored;
      }
    }
  }
}

TEST(HostileRender, views_that_leave_the_image_or_the_crop_are_refused) {
  const Shape shape{20, 30, 3};
  View view = resized_view({10, 10, 11, 5}, 8, 8);  // one row too many
  testing::expect_error([&] { check_view(view, shape); }, {"11x5", "10,10", "20x30"});
  view = resized_view({0, 0, 20, 30}, 8, 8);
  view.window = {4, 4, 4, 5};
  EXPECT_THROW(check_view(view, shape), Error);
  view.window = {0, 0, 0, 1};
  EXPECT_THROW(check_view(view, shape), Error);
  view = resized_view({0, 0, 20, 30}, 8, 8);
  view.x = -1;
  EXPECT_THROW(check_view(view, shape), Error);
}

}  // namespace
}  // namespace feedrate::loader
