#include <gtest/gtest.h>

#include "tests/formats/jpeg_images.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
extern const Codec& pnm_codec;
namespace {

using namespace feedrate::testing;
using namespace std::string_literals;

Image image_of(const std::string& file) { return decoded_by(pnm_codec, as_bytes(file)); }

std::string pixels_of(const std::string& file) {
  return std::string(as_text(image_of(file).pixels));
}

TEST(UnitPnm, binary_and_text_of_every_kind_have_pillow_s_pixels) {
  EXPECT_EQ(pixels_of("P6 2 1 255\nabcdef"), "abcdef");
  EXPECT_EQ(image_of("P6 2 1 255\nabcdef").shape, (Shape{1, 2, 3}));
  EXPECT_EQ(pixels_of("P5\n# a comment\n3 1\n255\nabc"), "abc");
  EXPECT_EQ(pixels_of("P5 3 1 3\n\0\1\3"s), "\0\x55\xff"s);
  EXPECT_EQ(pixels_of("P6 1 1 65535\n\xff\xff\x80\0\0\0"s), "\xff\x80\0"s);
  EXPECT_EQ(pixels_of("P4 9 2\n\x80\x80\0\0"s),
            "\0\xff\xff\xff\xff\xff\xff\xff\0"s + std::string(9, '\xff'));
  EXPECT_EQ(pixels_of("P1 3 1 101"), "\0\xff\0"s);
  EXPECT_EQ(pixels_of("P2 2 1 15 15 # white\n0"), "\xff\0"s);
  EXPECT_EQ(pixels_of("P3 1 1 255 1 2 3"), "\1\2\3");
  EXPECT_EQ(&codec_for(as_bytes("P6 1 1 255\nabc")), &pnm_codec);
}

TEST(HostilePnm, what_is_cut_or_forged_is_refused) {
  const std::string sound = "P6 2 1 255\nabcdef";
  for (std::size_t size = 3; size < sound.size(); ++size) {
    expect_error([&] { image_of(sound.substr(0, size)); }, {"PNM"});
  }
  expect_error([] { image_of("P6 60000 60000 255\nabc"); }, {"60000x60000", "cannot hold"});
  expect_error([] { image_of("P2 1 1 15 16"); }, {"above the largest"});
  expect_error([] { image_of("P6 1 1 0\nabc"); }, {"is 0"});
  expect_error([] { image_of("P6 x 1 255\nabc"); }, {"expected a number"});
}

}  // namespace
}  // namespace feedrate::formats
