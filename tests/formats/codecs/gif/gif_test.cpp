#include <gtest/gtest.h>

#include "tests/formats/jpeg_images.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
extern const Codec& gif_codec;
namespace {

using namespace feedrate::testing;

Buffer gif_of(std::string_view hex) {
  Buffer bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// By Pillow, which also told the pixels.
constexpr std::string_view plain =
    "474946383761050007008200000a141e28323c46505a010203040506faf0e60000000000002c0000"
    "000005000700000817000104103080400181040d222c787020c3850a1d120808003b";
constexpr std::string_view plain_pixels =
    "0a141e28323c46505a010203040506faf0e60a141e28323c46505a010203040506faf0e60a141e28"
    "323c46505a010203040506faf0e60a141e28323c46505a010203040506faf0e60a141e28323c4650"
    "5a010203040506faf0e60a141e28323c46505a010203040506";
constexpr std::string_view interlaced =
    "474946383761050007008200000a141e28323c46505a010203040506faf0e60000000000002c0000"
    "000005000700400817000104103080400181040d222c787020c3850a1d120808003b";
constexpr std::string_view interlaced_pixels =
    "0a141e28323c46505a01020304050646505a010203040506faf0e60a141e040506faf0e60a141e28"
    "323c46505a28323c46505a010203040506faf0e6faf0e60a141e28323c46505a0102030a141e2832"
    "3c46505a010203040506010203040506faf0e60a141e28323c";
constexpr std::string_view larger =
    "474946383761060008008200000a141e28323c46505a010203040506faf0e60000000000002c0100"
    "010005000700000817000104103080400181040d222c787020c3850a1d120808003b";
constexpr std::string_view larger_pixels =
    "0a141e0a141e0a141e0a141e0a141e0a141e0a141e0a141e28323c46505a0102030405060a141efa"
    "f0e60a141e28323c46505a0102030a141e040506faf0e60a141e28323c46505a0a141e0102030405"
    "06faf0e60a141e28323c0a141e46505a010203040506faf0e60a141e0a141e28323c46505a010203"
    "040506faf0e60a141e0a141e28323c46505a010203040506";

TEST(UnitGif, pictures_have_pillow_s_pixels) {
  EXPECT_EQ(decoded_by(gif_codec, gif_of(plain)).pixels, gif_of(plain_pixels));
  EXPECT_EQ(decoded_by(gif_codec, gif_of(interlaced)).pixels, gif_of(interlaced_pixels));
  EXPECT_EQ(decoded_by(gif_codec, gif_of(larger)).pixels, gif_of(larger_pixels));
  EXPECT_EQ(&codec_for(gif_of(plain)), &gif_codec) << "by content, whatever its suffix";
}

TEST(UnitGif, animations_are_refused_with_the_reason) {
  Buffer twice = gif_of(plain);
  const std::size_t header = 13 + 24;
  const Buffer picture(twice.begin() + header, twice.end());
  twice.pop_back();
  append(twice, picture);
  expect_error([&] { decoded_by(gif_codec, twice); }, {"animated GIF"});
}

TEST(HostileGif, every_truncation_and_flipped_bit_is_an_error_or_an_image) {
  const Buffer sound = gif_of(plain);
  for (std::size_t size = 0; size < sound.size() - 2; ++size) {
    expect_error([&] { decoded_by(gif_codec, Bytes(sound).first(size)); }, {"GIF"});
  }
  for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    Buffer changed = sound;
    changed[bit / 8] ^= std::byte(1U << bit % 8);
    try {
      if (gif_codec.shape(changed).bytes() < 1U << 20) decoded_by(gif_codec, changed);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
