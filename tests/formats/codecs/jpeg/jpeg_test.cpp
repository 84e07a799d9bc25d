#include "formats/codecs/jpeg/jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "formats/codec.h"
#include "tests/formats/jpeg_images.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

TEST(UnitJpeg, what_is_encoded_comes_back_nearly) {
  for (const Shape shape : {Shape{32, 32, 3}, Shape{28, 28, 1}, Shape{37, 51, 3}, Shape{1, 1, 1}}) {
    const Image image = smooth_image(shape);
    Buffer encoded;
    jpeg_codec.encode(image, encoded);
    EXPECT_LE(largest_difference(decoded(encoded), image), 4);
  }
}

TEST(UnitJpeg, less_quality_takes_fewer_bytes_and_95_is_the_default) {
  const Image image = make_image({64, 64, 3}, 3);
  Buffer best, usual, named, worst;
  jpeg_codec.encode(image, 100, best);
  jpeg_codec.encode(image, 0, usual);
  jpeg_codec.encode(image, 95, named);
  jpeg_codec.encode(image, 1, worst);
  EXPECT_GT(best.size(), usual.size());
  EXPECT_GT(usual.size(), worst.size());
  EXPECT_EQ(usual, named);
}

TEST(UnitJpeg, the_encoder_writes_what_libjpeg_writes_by_default) {
  for (const Shape shape : {Shape{33, 70, 3}, Shape{19, 5, 1}}) {
    const Image image = make_image(shape, 8);
    Buffer encoded;
    jpeg_codec.encode(image, 90, encoded);
    EXPECT_EQ(encoded, jpeg_of(image));
  }
}

TEST(UnitJpeg, the_same_pixels_give_the_same_bytes_whatever_came_before) {
  const Image image = make_image({32, 32, 3}, 5);
  Buffer first, between, second;
  jpeg_codec.encode(image, first);
  jpeg_codec.encode(make_image({7, 400, 1}, 1), 20, between);
  jpeg_codec.encode(image, second);
  EXPECT_EQ(first, second);
  std::thread([&] { jpeg_codec.encode(image, second); }).join();
  EXPECT_EQ(first, second);
}

TEST(UnitJpeg, grey_has_one_channel_and_all_else_three) {
  const Image colour = smooth_image({20, 30, 3}), grey = smooth_image({20, 30, 1});
  EXPECT_EQ(jpeg_codec.shape(jpeg_of(grey)), (Shape{20, 30, 1}));
  EXPECT_EQ(jpeg_codec.shape(jpeg_of(colour)), (Shape{20, 30, 3}));
  const Buffer rgb = jpeg_of(colour, {.stored = JCS_RGB, .quality = 100});
  const JpegHeader header = jpeg_header(rgb);
  EXPECT_EQ(header.shape, (Shape{20, 30, 3}));
  EXPECT_EQ(header.adobe, 0) << "an Adobe marker tells RGB from YCbCr";
  EXPECT_LE(largest_difference(decoded(rgb), colour), 2);
}

TEST(UnitJpeg, progressive_arithmetic_restarted_and_unevenly_sampled_files_are_read) {
  const Image image = smooth_image({45, 70, 3});
  std::vector<JpegKind> kinds{{.progressive = true}, {.restart = 3}, {.adobe = true}};
#ifdef D_ARITH_CODING_SUPPORTED
  kinds.push_back({.arithmetic = true});
  kinds.push_back({.progressive = true, .arithmetic = true});
#endif
  for (const auto& [across, down] : {std::pair{1, 1}, {2, 1}, {1, 2}, {4, 1}, {4, 2}}) {
    kinds.push_back({.across = across, .down = down});
  }
  for (const JpegKind& kind : kinds) {
    const Buffer encoded = jpeg_of(image, kind);
    const JpegHeader header = jpeg_header(encoded);
    EXPECT_EQ(header.progressive, kind.progressive);
    EXPECT_EQ(header.arithmetic, kind.arithmetic);
    EXPECT_EQ(header.adobe.has_value(), kind.adobe);
    EXPECT_LE(largest_difference(decoded(encoded), image), 8);
  }
}

TEST(UnitJpeg, progressive_and_baseline_files_of_one_image_give_the_same_pixels) {
  const Image image = make_image({50, 60, 3}, 4);
  EXPECT_EQ(decoded(jpeg_of(image)).pixels, decoded(jpeg_of(image, {.progressive = true})).pixels);
}

TEST(UnitJpeg, stored_inks_are_inverses_with_or_without_adobe_s_marker) {
  // Stored are 200, 100, 50 and 128 for black, the inverses of the inks.
  const Buffer pixels = flat({200, 100, 50, 128}, 16 * 16);
  JpegKind kind{.from = JCS_CMYK, .stored = JCS_CMYK, .quality = 100};
  Buffer encoded = make_jpeg(kind, 16, 16, pixels);
  JpegHeader header = jpeg_header(encoded);
  EXPECT_EQ(header.components, 4U);
  EXPECT_EQ(header.shape, (Shape{16, 16, 3}));
  EXPECT_EQ(header.adobe, 0);
  Image image = decoded(encoded);
  EXPECT_NEAR(pixel(image, 0), 200 * 128 / 255.0, 1.5);
  EXPECT_NEAR(pixel(image, 1), 100 * 128 / 255.0, 1.5);
  EXPECT_NEAR(pixel(image, 2), 50 * 128 / 255.0, 1.5);

  // Pillow, OpenCV and torchvision show the file without the marker in the same colours.
  const std::size_t adobe = behind_marker(encoded, 0xee);
  encoded[adobe + 2] = std::byte{'a'};
  EXPECT_EQ(jpeg_header(encoded).adobe, std::nullopt);
  EXPECT_EQ(decoded(encoded).pixels, image.pixels);

  kind.stored = JCS_YCCK;
  encoded = make_jpeg(kind, 16, 16, pixels);
  header = jpeg_header(encoded);
  EXPECT_EQ(header.components, 4U);
  EXPECT_EQ(header.adobe, 2);
  image = decoded(encoded);
  EXPECT_NEAR(pixel(image, 0), 200 * 128 / 255.0, 2);
  EXPECT_NEAR(pixel(image, 1), 100 * 128 / 255.0, 2);
  EXPECT_NEAR(pixel(image, 2), 50 * 128 / 255.0, 2);
}

TEST(UnitJpeg, bytes_between_markers_and_behind_the_end_are_no_damage) {
  const Image image = smooth_image({24, 24, 3});
  const Buffer sound = jpeg_of(image);
  const Image expected = decoded(sound);
  Buffer padded = sound;
  insert(padded, padded.size(), "an MPO's second image, or a camera's own data");
  EXPECT_EQ(decoded(padded).pixels, expected.pixels);
  padded = sound;
  insert(padded, padded.size() - 2, {"\0\0\0\0", 4});  // before the end marker
  EXPECT_EQ(decoded(padded).pixels, expected.pixels);
  padded = sound;
  insert(padded, behind_marker(sound, 0xc0) - 2, "\x01\x02\x03\xff\xff\xff");
  EXPECT_EQ(decoded(padded).pixels, expected.pixels);
  EXPECT_EQ(jpeg_codec.shape(padded), image.shape);
}

TEST(UnitJpeg, exif_turns_nothing_and_its_damage_fails_nothing) {
  const Image image = smooth_image({24, 40, 3});
  const Buffer sound = jpeg_of(image);
  const Image expected = decoded(sound);
  using namespace std::string_view_literals;
  for (const std::string_view exif :
       {"\xff\xe1\x00\x22"
        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"sv,  // turn right
        "\xff\xe1\x00\x0c"
        "Exif\0\0II\xff\xff"sv,
        "\xff\xe1\x00\x02"sv, "\xff\xe1\x00\x05\xff\xd9\xff"sv}) {
    Buffer with_exif = sound;
    insert(with_exif, 2, exif);
    EXPECT_EQ(jpeg_codec.shape(with_exif), (Shape{24, 40, 3}));
    EXPECT_EQ(decoded(with_exif).pixels, expected.pixels);
  }
}

TEST(UnitJpeg, a_thread_s_decompressor_forgets_the_tables_of_the_image_before) {
  const Image image = make_image({40, 40, 3}, 9);
  const Buffer whole = jpeg_of(image, {.quality = 40});
  const Buffer abbreviated = jpeg_of(image, {.quality = 40, .tables = false});
  // When a decompressor has seen no tables at all, libjpeg itself reports that.
  std::thread([&] { expect_error([&] { decoded(abbreviated); }, {"uantization table"}); }).join();
  decoded(whole);
  for (int round = 0; round < 2; ++round) {
    expect_error([&] { decoded(abbreviated); }, {"quantisation table"});
    EXPECT_EQ(decoded(whole).shape, image.shape);
  }
  // Motion JPEG omits only the standard Huffman tables.
  Buffer motion = whole;
  for (std::size_t at = behind_marker(motion, 0xc4); at != 0;) {
    const std::size_t size = load_be<std::uint16_t>(motion.data() + at);
    motion.erase(motion.begin() + static_cast<long>(at - 2),
                 motion.begin() + static_cast<long>(at + size));
    at = motion[at - 1] == std::byte{0xc4} ? at : 0;
  }
  EXPECT_LT(motion.size(), whole.size() - 400);
  const Image expected = decoded(whole);
  decoded(jpeg_of(image, {.progressive = true}));  // with tables of its own
  EXPECT_EQ(decoded(motion).pixels, expected.pixels);
  std::thread([&] { EXPECT_EQ(decoded(motion).pixels, expected.pixels); }).join();
}

}  // namespace
}  // namespace feedrate::formats
