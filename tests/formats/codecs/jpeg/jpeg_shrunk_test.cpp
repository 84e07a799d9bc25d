// JPEGs decoded at a part of their size: parts of them equal the whole, whoever reads the codes.

#include <gtest/gtest.h>

#include <random>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg_ways.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using testing::JpegKind;

Buffer part_of(const HuffmanDecoding* how, Bytes jpeg, Shape shape, const Rect& part,
               std::uint32_t shrunk) {
  Buffer memory, pixels;
  const PixelRows rows = decode_jpeg_part(how, jpeg, shape, part, memory, {}, shrunk);
  for (std::size_t y = 0; y < part.height; ++y) {
    append(pixels, {rows.first + y * rows.stride, std::size_t{part.width} * shape.channels});
  }
  return pixels;
}

Buffer cut(const Buffer& pixels, Shape shape, const Rect& part) {
  Buffer rows;
  for (std::size_t y = part.y; y < part.y + part.height; ++y) {
    append(rows, Bytes(pixels).subspan((y * shape.width + part.x) * shape.channels,
                                       std::size_t{part.width} * shape.channels));
  }
  return rows;
}

TEST(UnitJpegShrunk, parts_equal_the_whole_in_all_ways) {
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  std::vector<const HuffmanDecoding*> ways = {nullptr};
  for (const HuffmanDecoding* how : runnable_huffman_decodings()) ways.push_back(how);
  for (const auto& [across, down] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
    for (const bool progressive : {false, true}) {
      const JpegKind kind{.across = across, .down = down, .progressive = progressive, .restart = 3};
      const Shape shape{30 + below(150), 30 + below(150), 3};
      const Buffer jpeg =
          testing::make_jpeg(kind, shape.width, shape.height, testing::make_image(shape, 7).pixels);
      for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
        const Shape small = shrunk_shape(shape, shrunk);
        const Buffer whole =
            part_of(nullptr, jpeg, shape, {0, 0, small.height, small.width}, shrunk);
        for (int i = 0; i < 20; ++i) {
          Rect part{below(small.height), below(small.width), 1, 1};
          part.height += below(small.height - part.y);
          part.width += below(small.width - part.x);
          for (const HuffmanDecoding* how : ways) {
            ASSERT_EQ(part_of(how, jpeg, shape, part, shrunk), cut(whole, small, part))
                << across << "x" << down << ", 1/" << shrunk << ", " << small.height << "x"
                << small.width << ": " << part.height << "x" << part.width << " at " << part.y
                << "," << part.x;
          }
        }
      }
    }
  }
}

TEST(UnitJpegShrunk, a_pixel_is_about_the_mean_of_those_that_it_stands_for) {
  const Shape shape{64, 96, 1};
  Buffer pixels;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      pixels.push_back(static_cast<std::byte>(y + x));
    }
  }
  const JpegKind kind{.from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE, .quality = 100};
  const Buffer jpeg = testing::make_jpeg(kind, shape.width, shape.height, pixels);
  for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
    const Shape small = shrunk_shape(shape, shrunk);
    const Buffer found = part_of(nullptr, jpeg, shape, {0, 0, small.height, small.width}, shrunk);
    for (std::uint32_t y = 0; y < small.height; ++y) {
      for (std::uint32_t x = 0; x < small.width; ++x) {
        const double mean = (x + y) * shrunk + (shrunk - 1);
        ASSERT_NEAR(std::to_integer<int>(found[std::size_t{y} * small.width + x]), mean, 2.0);
      }
    }
  }
}

TEST(HostileJpegShrunk, another_shape_than_that_of_the_header_is_an_error) {
  const Shape shape{32, 48, 3};
  const Buffer jpeg =
      testing::make_jpeg({}, shape.width, shape.height, testing::make_image(shape, 1).pixels);
  Buffer memory;
  testing::expect_error(
      [&] {
        decode_shrunk_jpeg_part(jpeg, {64, 48, 3}, 2, {0, 0, 4, 4}, memory);
      },
      {"32"});
}

}  // namespace
}  // namespace feedrate::formats
