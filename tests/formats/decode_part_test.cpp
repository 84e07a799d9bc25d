// Decoding a part of an image gives the same pixels, to the bit, as decoding the whole, for every
// codec and kind of JPEG.

#include <random>

#include "tests/formats/jpeg_images.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using testing::JpegKind;

// A part at a random place and of a random size; a side is often whole.
Rect random_part(std::mt19937& random, Shape shape) {
  const auto range = [&](std::uint32_t side, std::uint32_t& begin, std::uint32_t& length) {
    begin = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % side);
    length = 1 + static_cast<std::uint32_t>(random() % (side - begin));
    if (random() % 3 == 0) length = side - begin;
  };
  Rect part;
  range(shape.height, part.y, part.height);
  range(shape.width, part.x, part.width);
  return part;
}

std::string described(Shape shape, const Rect& part) {
  return join(part.height, "x", part.width, " at ", part.y, ",", part.x, " of ", shape.height, "x",
              shape.width, "x", shape.channels);
}

// True when the rows equal the part of `whole`.
bool equals(const Image& whole, const Rect& part, PixelRows rows) {
  const PixelRows expected = rows_of_part(whole.pixels.data(), whole.shape, part);
  for (std::uint32_t y = 0; y < part.height; ++y) {
    if (std::memcmp(rows.first + y * rows.stride, expected.first + y * expected.stride,
                    std::size_t{part.width} * whole.shape.channels) != 0) {
      return false;
    }
  }
  return true;
}

void expect_exact_parts(const Codec& codec, Bytes encoded, int parts, unsigned seed) {
  const Image whole = testing::decoded_by(codec, encoded);
  std::mt19937 random(seed);
  Buffer memory;  // shared by all: leftovers must not matter
  int wrong = 0;
  for (int i = 0; i < parts; ++i) {
    const Rect part = random_part(random, whole.shape);
    const PixelRows rows = codec.decode_part(encoded, whole.shape, part, memory);
    if (equals(whole, part, rows) || wrong > 3) continue;
    ++wrong;
    ADD_FAILURE() << codec.name() << ": " << described(whole.shape, part);
  }
}

Buffer noisy_jpeg(Shape shape, JpegKind kind, unsigned seed) {
  const bool inks = kind.from == JCS_CMYK;
  Buffer pixels(shape.bytes() / shape.channels * (inks ? 4 : shape.channels));
  std::mt19937 random(seed);
  std::size_t at = 0;
  for (std::byte& pixel : pixels) {
    pixel = static_cast<std::byte>((at++ / 7) + random() % 100);
  }
  if (shape.channels == 1) kind.from = kind.stored = JCS_GRAYSCALE;
  return make_jpeg(kind, shape.width, shape.height, pixels);
}

void expect_exact_jpegs(JpegKind kind, std::uint32_t channels) {
  std::mt19937 random(5);
  for (unsigned i = 0; i < 12; ++i) {
    // From less than one MCU to several, odd sides mostly.
    const Shape shape{1 + static_cast<std::uint32_t>(random() % 150),
                      1 + static_cast<std::uint32_t>(random() % 150), channels};
    SCOPED_TRACE(join(kind.across, "x", kind.down, kind.progressive ? " progressive" : "",
                      kind.restart != 0 ? " with restarts" : "", kind.arithmetic ? " arith" : ""));
    const Buffer jpeg = noisy_jpeg(shape, kind, i);
    expect_exact_parts(jpeg_codec, jpeg, 60, i);
    Buffer packed;
    packed_codec.recode(jpeg, packed);
    EXPECT_EQ(testing::decoded_by(packed_codec, packed).pixels, testing::decoded(jpeg).pixels);
    expect_exact_parts(packed_codec, packed, 60, i);
  }
}

class UnitJpegPart : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(UnitJpegPart, equals_the_whole_at_any_subsampling) {
  const auto [across, down] = GetParam();
  expect_exact_jpegs({.across = across, .down = down}, 3);
  expect_exact_jpegs({.across = across, .down = down, .progressive = true}, 3);
  expect_exact_jpegs({.across = across, .down = down, .restart = 3}, 3);
}
INSTANTIATE_TEST_SUITE_P(, UnitJpegPart,
                         ::testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(2, 2),
                                           std::pair(1, 2), std::pair(4, 1), std::pair(4, 2)));

TEST(UnitJpegPartKinds, grey_inks_rgb_and_arithmetic_equal_the_whole) {
  expect_exact_jpegs({}, 1);
  expect_exact_jpegs({.progressive = true}, 1);
  expect_exact_jpegs({.from = JCS_CMYK, .stored = JCS_CMYK, .across = 1, .down = 1}, 3);
  expect_exact_jpegs({.from = JCS_CMYK, .stored = JCS_YCCK, .across = 2, .down = 2}, 3);
  expect_exact_jpegs({.stored = JCS_RGB, .across = 1, .down = 1}, 3);
  expect_exact_jpegs({.across = 2, .down = 2, .arithmetic = true}, 3);
}

TEST(UnitDecodePart, of_raw_is_where_it_lies) {
  const Image image = testing::make_image({9, 7, 3}, 1);
  Buffer memory;
  const PixelRows rows = raw_codec.decode_part(image.pixels, image.shape, {2, 3, 4, 2}, memory);
  EXPECT_EQ(rows.first, image.pixels.data() + (2 * 7 + 3) * 3);
  EXPECT_EQ(rows.stride, 21U);
  EXPECT_TRUE(memory.empty());
}

TEST(UnitDecodePart, of_png_equals_the_whole) {
  for (const Shape shape : {Shape{31, 45, 3}, {64, 17, 1}, {1, 1, 3}, {200, 300, 3}}) {
    Buffer encoded;
    png_codec.encode(testing::make_image(shape, 3), encoded);
    expect_exact_parts(png_codec, encoded, 100, shape.width);
  }
}

TEST(UnitDecodePart, of_png_leaves_rows_below_alone) {
  const Shape shape{400, 300, 3};
  Buffer encoded, memory;
  png_codec.encode(testing::make_image(shape, 3), encoded);
  png_codec.decode_part(encoded, shape, {10, 10, 90, 200}, memory);
  EXPECT_LT(memory.size(), shape.bytes());
}

TEST(UnitDecodePart, of_planes_is_interleaved) {
  const Image image = testing::make_image({8, 10, 3}, 4);
  for (const PixelOrder order : {PixelOrder::planar_rgb, PixelOrder::planar_bgr}) {
    Buffer planes(image.pixels.size());
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const std::size_t channel = order == PixelOrder::planar_rgb ? i % 3 : 2 - i % 3;
      planes[channel * 80 + i / 3] = image.pixels[i];
    }
    const Sample sample{.bytes = planes, .codec = &raw_codec, .shape = image.shape, .order = order};
    Buffer memory;
    std::mt19937 random(6);
    for (int i = 0; i < 50; ++i) {
      const Rect part = random_part(random, image.shape);
      EXPECT_TRUE(equals(image, part, decode_part(sample, part, memory)))
          << described(image.shape, part);
    }
  }
}

TEST(HostileDecodePart, damage_above_or_in_the_part_is_an_error_and_leaves_nothing_behind) {
  Buffer encoded = noisy_jpeg({120, 120, 3}, {}, 1);
  const Buffer whole = encoded;
  Buffer memory;
  const Shape shape{120, 120, 3};
  const Rect bottom{100, 10, 20, 50}, top{0, 10, 16, 50};
  encoded.resize(encoded.size() / 2);
  EXPECT_THROW(jpeg_codec.decode_part(encoded, shape, bottom, memory), Error);
  // Damage to what is not needed goes unnoticed.
  EXPECT_NO_THROW(jpeg_codec.decode_part(encoded, shape, top, memory));
  EXPECT_THROW(jpeg_codec.decode_part(whole, {120, 121, 3}, top, memory), Error);
  expect_exact_parts(jpeg_codec, whole, 20, 2);
  const Buffer grey(99);
  EXPECT_THROW(raw_codec.decode_part(grey, {10, 10, 1}, {0, 0, 1, 1}, memory), Error);
}

// Errors are as good as pixels here; the test is that nothing beyond the bytes is read.
void expect_no_reading_beyond(const Codec& codec, Shape shape, Bytes sound) {
  std::mt19937 random(7);
  Buffer memory;
  int decoded = 0;
  for (int round = 0; round < 1500; ++round) {
    Buffer damaged(sound.begin(), sound.end());
    if (round % 3 == 0) damaged.resize(random() % damaged.size());
    for (int flips = round % 4; flips > 0 && !damaged.empty(); --flips) {
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << random() % 8);
    }
    const testing::FencedBytes bytes(
        damaged, round % 2 == 0 ? testing::Fence::behind : testing::Fence::before);
    try {
      codec.decode_part(bytes.bytes(), shape, random_part(random, shape), memory);
      ++decoded;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_GT(decoded, 100) << codec.name() << ": all was refused before it was read";
}

TEST(HostileDecodePart, no_damage_leads_beyond_the_bytes) {
  const Shape shape{90, 70, 3};
  expect_no_reading_beyond(jpeg_codec, shape, noisy_jpeg(shape, {}, 1));
  expect_no_reading_beyond(jpeg_codec, shape, noisy_jpeg(shape, {.progressive = true}, 2));
  expect_no_reading_beyond(jpeg_codec, shape, noisy_jpeg(shape, {.restart = 3}, 3));
  Buffer png;
  png_codec.encode(testing::make_image(shape, 4), png);
  expect_no_reading_beyond(png_codec, shape, png);
  expect_no_reading_beyond(raw_codec, shape, testing::make_image(shape, 5).pixels);
}

}  // namespace
}  // namespace feedrate::formats
