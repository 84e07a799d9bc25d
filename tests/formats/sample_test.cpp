#include "formats/sample.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

// Two pixels: red, green, blue = 1, 2, 3 and 4, 5, 6.
constexpr std::array<std::byte, 6> interleaved = {std::byte{1}, std::byte{2}, std::byte{3},
                                                  std::byte{4}, std::byte{5}, std::byte{6}};

Sample raw_sample(Bytes bytes, PixelOrder order) {
  Sample sample;
  sample.bytes = bytes;
  sample.codec = &raw_codec;
  sample.shape = {1, 2, 3};
  sample.order = order;
  return sample;
}

void expect_decoded(std::array<int, 6> stored, PixelOrder order) {
  Buffer bytes;
  for (const int value : stored) bytes.push_back(static_cast<std::byte>(value));
  Buffer pixels(6);
  decode(raw_sample(bytes, order), pixels);
  EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), interleaved.begin()));
}

TEST(UnitSample, raw_pixels_of_every_order_decode_to_interleaved_rgb) {
  expect_decoded({1, 2, 3, 4, 5, 6}, PixelOrder::interleaved);
  expect_decoded({1, 4, 2, 5, 3, 6}, PixelOrder::planar_rgb);
  expect_decoded({3, 6, 2, 5, 1, 4}, PixelOrder::planar_bgr);
}

TEST(HostileSample, raw_pixels_of_another_size_are_refused_in_every_order) {
  const Buffer bytes(5);
  Buffer pixels(6);
  for (const PixelOrder order :
       {PixelOrder::interleaved, PixelOrder::planar_rgb, PixelOrder::planar_bgr}) {
    expect_error([&] { decode(raw_sample(bytes, order), pixels); }, {"1x2x3 = 6 bytes", "found 5"});
  }
}

TEST(UnitCodec, a_picture_that_no_codec_knows_is_called_by_its_name) {
  using namespace std::string_view_literals;
  expect_error([] { codec_for(as_bytes("GIF89a")); }, {"looks like GIF", "raw, png, jpeg"});
  expect_error([] { codec_for(as_bytes("<html><body>")); }, {"looks like an HTML page"});
  expect_error([] { codec_for(as_bytes("BM1234")); }, {"looks like BMP"});
  expect_error([] { codec_for(as_bytes("\x01\x02"sv)); }, {"2 bytes", "begins with 0102"});
  expect_error([] { codec_for({}); }, {"begins with nothing"});
  expect_error([] { codec("pgn"); }, {"no codec 'pgn'", "did you mean png?"});
}

}  // namespace
}  // namespace feedrate::formats
