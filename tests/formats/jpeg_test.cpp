#include "formats/codecs/jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "formats/codec.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/sample_images.h"

namespace feedrate {
namespace {

using testing::expect_error;
using testing::JpegKind;
using testing::make_image;
using testing::make_jpeg;

Image decoded(Bytes encoded) {
  Image image{jpeg_codec.shape(encoded), {}};
  image.pixels.resize(image.shape.bytes());
  jpeg_codec.decode(encoded, image.shape, image.pixels);
  return image;
}

int pixel(const Image& image, std::size_t at) { return std::to_integer<int>(image.pixels[at]); }

int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.shape, b.shape);
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(pixel(a, i) - pixel(b, i)));
  }
  return largest;
}

// Without the noise of make_image, which chroma at half the resolution cannot keep.
Image smooth_image(Shape shape) {
  Image image{shape, {}};
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        image.pixels.push_back(static_cast<std::byte>(40 + y + x / 2 + 30 * c));
      }
    }
  }
  return image;
}

Buffer jpeg_of(const Image& image, JpegKind kind = {}) {
  if (image.shape.channels == 1) kind.from = kind.stored = JCS_GRAYSCALE;
  return make_jpeg(kind, image.shape.width, image.shape.height, image.pixels);
}

Buffer flat(std::initializer_list<unsigned> pixel, std::size_t count) {
  Buffer pixels;
  while (count-- > 0) {
    for (const unsigned sample : pixel) pixels.push_back(static_cast<std::byte>(sample));
  }
  return pixels;
}

// Index of the byte behind the first marker of that code.
std::size_t behind_marker(const Buffer& encoded, unsigned code) {
  for (std::size_t i = 2; i + 1 < encoded.size(); ++i) {
    if (encoded[i] == std::byte{0xff} && encoded[i + 1] == std::byte(code)) return i + 2;
  }
  ADD_FAILURE() << "no marker " << code;
  return 0;
}

void insert(Buffer& encoded, std::size_t at, std::string_view bytes) {
  const Bytes added = as_bytes(bytes);
  encoded.insert(encoded.begin() + static_cast<long>(at), added.begin(), added.end());
}

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

TEST(UnitJpeg, inks_become_rgb_and_adobe_s_are_inverted) {
  // Stored 200, 100, 50 and 128 for black: of Adobe these are what is left of the light.
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

  // The same file without the marker: the numbers are amounts of ink.
  const std::size_t adobe = behind_marker(encoded, 0xee);
  encoded[adobe + 2] = std::byte{'a'};
  EXPECT_EQ(jpeg_header(encoded).adobe, std::nullopt);
  image = decoded(encoded);
  EXPECT_NEAR(pixel(image, 0), 55 * 127 / 255.0, 1.5);
  EXPECT_NEAR(pixel(image, 1), 155 * 127 / 255.0, 1.5);
  EXPECT_NEAR(pixel(image, 2), 205 * 127 / 255.0, 1.5);

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
  for (int round = 0; round < 2; ++round) {
    expect_error([&] { decoded(abbreviated); }, {"quantisation table"});
    EXPECT_EQ(decoded(whole).shape, image.shape);
  }
  // Motion JPEG leaves out the usual Huffman tables only.
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

TEST(HostileJpeg, another_shape_than_asked_for_is_refused) {
  Buffer encoded, pixels(4 * 4);
  jpeg_codec.encode(make_image({4, 5, 1}, 1), encoded);
  expect_error([&] { jpeg_codec.decode(encoded, {4, 4, 1}, pixels); }, {"4x4x1", "4x5x1"});
}

TEST(HostileJpeg, every_truncation_is_an_error_that_names_the_byte) {
  std::vector<JpegKind> kinds{{}, {.progressive = true}, {.restart = 2}};
  kinds.push_back({.from = JCS_CMYK, .stored = JCS_YCCK});
#ifdef D_ARITH_CODING_SUPPORTED
  kinds.push_back({.arithmetic = true});
#endif
  for (const JpegKind& kind : kinds) {
    const Shape shape{21, 19, 3};
    const Buffer samples = make_image({21, kind.from == JCS_CMYK ? 76U : 57U, 1}, 2).pixels;
    const Buffer encoded = make_jpeg(kind, shape.width, shape.height, samples);
    Buffer pixels(shape.bytes());
    jpeg_codec.decode(encoded, shape, pixels);
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      expect_error([&] { jpeg_codec.decode(Bytes(encoded).first(size), shape, pixels); },
                   {size < 3 ? "not a JPEG" : "byte"});
    }
    jpeg_codec.decode(encoded, shape, pixels);
  }
}

TEST(HostileJpeg, kinds_that_are_not_read_are_named) {
  const Buffer sound = jpeg_of(smooth_image({16, 16, 3}));
  const std::size_t frame = behind_marker(sound, 0xc0);
  const auto with = [&](std::size_t at, unsigned value) {
    Buffer changed = sound;
    changed[at] = static_cast<std::byte>(value);
    return changed;
  };
  const auto expect = [&](const Buffer& changed, std::initializer_list<std::string_view> parts) {
    expect_error([&] { jpeg_codec.shape(changed); }, parts);
  };
  expect(with(frame - 1, 0xc3), {"lossless"});
  expect(with(frame - 1, 0xcb), {"lossless"});
  expect(with(frame - 1, 0xc5), {"hierarchical", "SOF5"});
  expect(with(frame + 2, 12), {"12 bits"});
  expect(with(frame + 7, 2), {"2 components"});
  expect(with(frame + 9, 0x52), {"sampling factors 5x2"});
  expect(with(frame + 9, 0x20), {"sampling factors 2x0"});
  expect(with(frame + 1, 18), {"16 bytes for 3 components"});
  expect(with(frame + 4, 0), {"height", "DNL"});
  expect(with(frame + 6, 0), {"16x0"});
  expect(with(frame - 1, 0xd9), {"the end of the image"});
  expect(with(frame - 1, 0xd8), {"a second start"});
  expect(with(frame - 1, 0xda), {"a scan without a frame header"});
}

TEST(HostileJpeg, a_header_that_promises_more_than_the_bytes_can_hold_is_refused) {
  std::vector<JpegKind> kinds{{}, {.progressive = true}};
#ifdef D_ARITH_CODING_SUPPORTED
  kinds.push_back({.arithmetic = true});
#endif
  for (const JpegKind& kind : kinds) {
    Buffer bomb = jpeg_of(smooth_image({8, 8, 3}), kind);
    const std::size_t sizes = behind_marker(bomb, kind.progressive  ? 0xc2
                                                  : kind.arithmetic ? 0xc9
                                                                    : 0xc0) +
                              3;
    const auto stating = [&](std::uint16_t height, std::uint16_t width) {
      const std::uint16_t sides[] = {swap_bytes(height), swap_bytes(width)};
      std::memcpy(bomb.data() + sizes, sides, sizeof sides);
      return [&] { jpeg_codec.shape(bomb); };
    };
    expect_error(stating(65000, 65000), {"65000x65000", "cannot hold"});
    expect_error(stating(16000, 16000), {"16000x16000", "cannot hold"});
    expect_error(stating(65535, 1), {"65535x1", "cannot hold"});
  }
  const Image wide = make_image({1, 65535, 1}, 1);
  Buffer encoded;
  expect_error([&] { jpeg_codec.encode(wide, encoded); }, {"1x65535", "65500"});
}

TEST(HostileJpeg, solid_pages_are_small_and_no_bombs) {
  for (const bool progressive : {false, true}) {
    const Image white{{800, 600, 3}, flat({255, 255, 255}, 800 * 600)};
    const Buffer encoded = jpeg_of(white, {.progressive = progressive});
    EXPECT_EQ(decoded(encoded).pixels, white.pixels);
  }
}

TEST(HostileJpeg, more_scans_than_any_encoder_writes_are_refused) {
  // Every coefficient in a scan of its own, which the standard allows.
  JpegKind kind;
  for (int component = 0; component < 3; ++component) {
    kind.scans.push_back({1, {component}, 0, 0, 0, 0});
    for (int i = 1; i < 64; ++i) kind.scans.push_back({1, {component}, i, i, 0, 0});
  }
  const Image image = smooth_image({16, 16, 3});
  expect_error([&] { decoded(jpeg_of(image, kind)); }, {"scans", "byte"});
  kind.scans.resize(60);
  for (int component = 1; component < 3; ++component) {
    kind.scans.push_back({1, {component}, 0, 0, 0, 0});
  }
  EXPECT_EQ(decoded(jpeg_of(image, kind)).shape, image.shape);
}

TEST(HostileJpeg, a_component_without_a_scan_is_an_error) {
  JpegKind kind;
  for (int component = 0; component < 3; ++component) {
    kind.scans.push_back({1, {component}, 0, 63, 0, 0});
  }
  Buffer encoded = jpeg_of(smooth_image({16, 16, 3}), kind);
  EXPECT_EQ(decoded(encoded).shape, (Shape{16, 16, 3}));
  // The end marker over the last scan's start.
  const auto is_scan = [&](std::size_t i) {
    return encoded[i] == std::byte{0xff} && encoded[i + 1] == std::byte{0xda};
  };
  std::size_t last = encoded.size() - 2;
  while (!is_scan(last)) --last;
  encoded[last + 1] = std::byte{0xd9};
  expect_error([&] { decoded(encoded); }, {"a component has no scan"});
}

TEST(HostileJpeg, lost_data_is_an_error_not_a_guess) {
  const Buffer restarted = jpeg_of(make_image({64, 64, 3}, 2), {.restart = 2});
  Buffer lost = restarted;
  lost[behind_marker(lost, 0xd1) - 1] = std::byte{0xd4};
  expect_error([&] { decoded(lost); }, {"damaged near byte", "instead of RST1"});

  Buffer shorter = restarted;
  const auto from = static_cast<long>(behind_marker(shorter, 0xd0));
  const auto to = static_cast<long>(behind_marker(shorter, 0xd1)) - 2;
  shorter.erase(shorter.begin() + (from + to) / 2, shorter.begin() + to);
  expect_error([&] { decoded(shorter); }, {"damaged near byte", "premature end"});

  Buffer longer = restarted;
  insert(longer, static_cast<std::size_t>(to), "\x12\x34\x56\x78\x12\x34\x56\x78");
  expect_error([&] { decoded(longer); }, {"damaged near byte", "extraneous"});
}

TEST(HostileJpeg, random_damage_is_an_error_or_other_pixels_never_a_crash) {
  std::mt19937 random(4);
  std::vector<JpegKind> kinds{{}, {.progressive = true}, {.restart = 3}, {.across = 1, .down = 2}};
  kinds.push_back({.from = JCS_CMYK, .stored = JCS_YCCK, .progressive = true});
#ifdef D_ARITH_CODING_SUPPORTED
  kinds.push_back({.arithmetic = true});
#endif
  for (const JpegKind& kind : kinds) {
    const Buffer samples = make_image({33, kind.from == JCS_CMYK ? 4 * 29U : 3 * 29U, 1}, 7).pixels;
    const Buffer sound = make_jpeg(kind, 29, 33, samples);
    const Image expected = decoded(sound);
    for (int round = 0; round < 2000; ++round) {
      Buffer damaged = sound;
      for (std::size_t i = 0; i <= random() % 3; ++i) {
        std::byte& byte = damaged[random() % damaged.size()];
        byte = random() % 2 == 0 ? byte ^ std::byte(1U << random() % 8) : std::byte(random());
      }
      try {
        decoded(damaged);
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("JPEG"), std::string_view::npos);
      }
    }
    EXPECT_EQ(decoded(sound).pixels, expected.pixels) << "errors leave nothing behind";
  }
}

}  // namespace
}  // namespace feedrate
