#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate {
namespace {

using testing::expect_error;
using testing::make_image;

// What our encoder never writes and other tools do.
struct Kind {
  int color_type = PNG_COLOR_TYPE_GRAY;
  int depth = 8;
  bool interlaced = false;
  bool with_text = false;
};

void to_buffer(png_structp png, png_bytep from, std::size_t size) {
  append(*static_cast<Buffer*>(png_get_io_ptr(png)),
         {reinterpret_cast<const std::byte*>(from), size});
}

// A PNG of `kind` whose rows are `rows`, packed as PNG stores them.
Buffer make_png(const Kind& kind, std::uint32_t width, std::vector<std::vector<png_byte>> rows) {
  Buffer encoded;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &encoded, to_buffer, nullptr);
  png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), kind.depth, kind.color_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {100, 110, 120}};
  const png_byte transparency[] = {0, 128};
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette, 4);
    png_set_tRNS(png, info, transparency, 2, nullptr);
  }
  png_text text{};
  char key[] = "Comment", words[] = "words that are no pixels";
  text.compression = PNG_TEXT_COMPRESSION_NONE;
  text.key = key;
  text.text = words;
  if (kind.with_text) png_set_text(png, info, &text, 1);
  std::vector<png_bytep> pointers;
  for (std::vector<png_byte>& row : rows) pointers.push_back(row.data());
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return encoded;
}

std::vector<unsigned> decoded(const Buffer& encoded) {
  const Shape shape = png_codec.shape(encoded);
  Buffer pixels(shape.bytes());
  png_codec.decode(encoded, shape, pixels);
  std::vector<unsigned> numbers;
  for (const std::byte pixel : pixels) numbers.push_back(std::to_integer<unsigned>(pixel));
  return numbers;
}

using Numbers = std::vector<unsigned>;

TEST(UnitPng, palettes_become_rgb_without_their_transparency) {
  const Buffer png = make_png({PNG_COLOR_TYPE_PALETTE, 2}, 3, {{0b00'01'10'00}, {0b11'00'01'00}});
  EXPECT_EQ(png_codec.shape(png), (Shape{2, 3, 3}));
  EXPECT_EQ(decoded(png), (Numbers{10, 20, 30, 40, 50, 60, 70, 80, 90,  //
                                   100, 110, 120, 10, 20, 30, 40, 50, 60}));
}

TEST(UnitPng, few_bits_are_stretched_to_the_full_range) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 1}, 3, {{0b10100000}})), (Numbers{255, 0, 255}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 2}, 3, {{0b01'10'11'00}})),
            (Numbers{85, 170, 255}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 4}, 2, {{0x1f}})), (Numbers{17, 255}));
}

TEST(UnitPng, of_sixteen_bits_the_high_byte_is_kept) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 16}, 2, {{0x12, 0xff, 0x80, 0x00}})),
            (Numbers{0x12, 0x80}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB, 16}, 1, {{1, 9, 2, 9, 3, 9}})),
            (Numbers{1, 2, 3}));
}

TEST(UnitPng, alpha_is_dropped) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY_ALPHA, 8}, 2, {{7, 0, 8, 255}})),
            (Numbers{7, 8}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB_ALPHA, 8}, 1, {{1, 2, 3, 0}})),
            (Numbers{1, 2, 3}));
}

TEST(UnitPng, interlaced_images_are_put_together) {
  std::vector<std::vector<png_byte>> rows;
  Numbers expected;
  for (unsigned y = 0; y < 9; ++y) {
    rows.emplace_back();
    for (unsigned x = 0; x < 11; ++x) {
      rows.back().push_back(static_cast<png_byte>(20 * y + x));
      expected.push_back(20 * y + x);
    }
  }
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 8, true}, 11, rows)), expected);
}

TEST(UnitPng, what_is_not_pixels_is_skipped) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 8, false, true}, 2, {{5, 6}})), (Numbers{5, 6}));
}

TEST(UnitPng, the_same_pixels_give_the_same_bytes) {
  Buffer first, second;
  png_codec.encode(make_image({32, 32, 3}, 5), first);
  png_codec.encode(make_image({32, 32, 3}, 5), second);
  EXPECT_EQ(first, second);
}

TEST(HostilePng, another_shape_than_asked_for_is_refused) {
  Buffer encoded, pixels(4 * 4);
  png_codec.encode(make_image({4, 5, 1}, 1), encoded);
  expect_error([&] { png_codec.decode(encoded, {4, 4, 1}, pixels); }, {"4x4x1", "4x5x1"});
}

TEST(HostilePng, every_truncation_is_an_error) {
  Buffer encoded;
  const Image image = make_image({9, 9, 3}, 2);
  png_codec.encode(image, encoded);
  Buffer pixels(image.pixels.size());
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    expect_error([&] { png_codec.decode(Bytes(encoded).first(size), image.shape, pixels); }, {""});
  }
}

TEST(HostilePng, every_flipped_bit_is_an_error_or_changes_nothing) {
  Buffer encoded;
  const Image image = make_image({6, 5, 1}, 3);
  png_codec.encode(image, encoded);
  for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
    Buffer damaged = encoded;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    Buffer pixels(image.pixels.size());
    try {
      png_codec.decode(damaged, image.shape, pixels);
    } catch (const Error&) {
      continue;
    }
    EXPECT_EQ(pixels, image.pixels) << "bit " << bit;
  }
}

TEST(HostilePng, bytes_behind_the_end_are_reported) {
  Buffer encoded, pixels(4);
  png_codec.encode(make_image({2, 2, 1}, 1), encoded);
  encoded.resize(encoded.size() + 3);
  expect_error([&] { png_codec.decode(encoded, {2, 2, 1}, pixels); }, {"3 more bytes follow"});
}

TEST(HostilePng, a_header_that_promises_more_than_the_bytes_can_hold_is_refused) {
  Buffer encoded = make_png({}, 1, {{0}});
  const std::uint32_t sides[] = {swap_bytes<std::uint32_t>(65535),
                                 swap_bytes<std::uint32_t>(16384)};
  std::memcpy(encoded.data() + 16, sides, sizeof sides);
  expect_error([&] { png_codec.shape(encoded); }, {"CRC"});
  const auto crc = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const unsigned char*>(encoded.data()) + 12, 17));
  const std::uint32_t stored = swap_bytes(crc);
  std::memcpy(encoded.data() + 29, &stored, sizeof stored);
  expect_error([&] { png_codec.shape(encoded); }, {"16384x65535", "cannot hold"});
}

}  // namespace
}  // namespace feedrate
