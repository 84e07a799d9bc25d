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
    if (!kind.arithmetic) {
      expect_error(stating(16000, 16000), {"16000x16000", "cannot hold"});
    }
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
  // Overwrites the last scan's start with the end marker.
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
}  // namespace feedrate::formats
