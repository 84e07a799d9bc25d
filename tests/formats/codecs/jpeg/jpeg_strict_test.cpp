// JPEGs that every reader shows, and of which a strict decoder warns: read, and reported.

#include <gtest/gtest.h>

#include "formats/codecs/jpeg/jpeg_ways.h"
#include "formats/codecs/packed/packed.h"
#include "tests/formats/jpeg_images.h"
#include "tests/formats/jpeg_kinds.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

constexpr Shape shape{64, 64, 3};

Buffer noisy(unsigned restart) {
  return noisy_jpeg({.across = 1, .down = 1, .restart = restart}, shape, 60);
}

// What decode_strictly() says. All ways give the pixels of the `sound` file, whole, in part and packed.
std::string doubt_of(Bytes jpeg, Bytes sound) {
  const Image expected = decoded(sound);
  std::string doubt;
  for (const HuffmanDecoding* how :
       {static_cast<const HuffmanDecoding*>(nullptr), runnable_huffman_decodings().front()}) {
    Buffer pixels(shape.bytes());
    doubt = decode_jpeg(how, jpeg, shape, pixels);
    EXPECT_EQ(pixels, expected.pixels);
  }
  Buffer memory, packed, pixels(shape.bytes());
  const Rect part{40, 20, 24, 30};
  const PixelRows rows = decode_jpeg_part(jpeg, shape, part, memory);
  for (std::uint32_t y = 0; y < part.height; ++y) {
    EXPECT_EQ(
        std::memcmp(rows.first + y * rows.stride,
                    expected.pixels.data() + 3 * ((part.y + y) * 64 + part.x), 3 * part.width),
        0);
  }
  pack_jpeg(jpeg, packed);
  packed_codec.decode(packed, shape, pixels);
  EXPECT_EQ(pixels, expected.pixels);
  EXPECT_EQ(is_sound_jpeg(jpeg), doubt.empty());
  return doubt;
}

Buffer with(const Buffer& jpeg, std::size_t at, std::string_view added) {
  Buffer longer = jpeg;
  insert(longer, at, added);
  return longer;
}

TEST(UnitJpegStrict, stray_bytes_in_front_of_any_restart_marker_are_read_and_reported) {
  const Buffer sound = noisy(8);
  EXPECT_EQ(doubt_of(sound, sound), "");
  for (unsigned marker = 0xd0; marker < 0xd7; ++marker) {
    const std::size_t at = behind_marker(sound, marker) - 2;
    for (const std::size_t count : {1U, 2U, 3U, 8U, 200U}) {
      EXPECT_NE(doubt_of(with(sound, at, std::string(count, '\x12')), sound), "") << count;
    }
  }
}

TEST(UnitJpegStrict, padding_in_front_of_markers_is_sound_and_other_bytes_are_reported) {
  for (const unsigned restart : {0U, 8U}) {
    const Buffer sound = noisy(restart);
    for (const unsigned marker : {0xd1U, 0xd9U}) {
      if (restart == 0 && marker != 0xd9) continue;
      const std::size_t at = behind_marker(sound, marker) - 2;
      for (const std::size_t count : {1U, 4U, 100U}) {
        EXPECT_EQ(doubt_of(with(sound, at, std::string(count, '\0')), sound), "") << count;
        EXPECT_EQ(doubt_of(with(sound, at, std::string(count, '\xff')), sound), "") << count;
        EXPECT_NE(doubt_of(with(sound, at, std::string(count, '\x7f')), sound), "") << count;
      }
    }
  }
}

TEST(UnitJpegStrict, other_bytes_in_place_of_the_end_are_read_and_reported_but_a_cut_is_damage) {
  for (const unsigned restart : {0U, 8U}) {
    const Buffer sound = noisy(restart);
    Buffer other(sound.begin(), sound.end() - 2);
    append(other, as_bytes("SEFT" + std::string(50, '\0')));
    EXPECT_NE(doubt_of(other, sound).find("end is missing"), std::string::npos);
    for (std::size_t cut = 1; cut < 60; ++cut) {
      Buffer pixels(shape.bytes());
      const Bytes shorter = Bytes(sound).first(sound.size() - cut);
      expect_error([&] { decode_jpeg(shorter, shape, pixels); }, {"damaged"});
    }
  }
}

TEST(UnitJpegStrict, no_flipped_bit_that_leaves_codes_over_is_called_sound) {
  const Buffer sound = noisy(0);
  std::size_t read = 0, reported = 0;
  for (std::size_t bit = 8 * (behind_marker(sound, 0xda) + 20); bit < 8 * sound.size() - 800;
       bit += 37) {
    Buffer jpeg = sound;
    jpeg[bit / 8] ^= std::byte(1U << bit % 8);
    Buffer pixels(shape.bytes());
    try {
      const std::string doubt = decode_jpeg(jpeg, shape, pixels);
      ++read;
      reported += doubt.empty() ? 0 : 1;
      ASSERT_TRUE(doubt.empty() || !is_sound_jpeg(jpeg));
    } catch (const Error&) {
    }
  }
  EXPECT_GT(reported, read / 10);
}

TEST(UnitJpegStrict, lost_codes_of_progressive_files_are_reported) {
  const Buffer sound = noisy_jpeg({.progressive = true}, shape, 60);
  Buffer pixels(shape.bytes());
  EXPECT_EQ(decode_jpeg(sound, shape, pixels), "");
  const Buffer longer = with(sound, behind_marker(sound, 0xd9) - 2, std::string(40, '\x12'));
  EXPECT_NE(decode_jpeg(longer, shape, pixels), "");
  EXPECT_EQ(pixels, decoded(sound).pixels);
}

TEST(UnitJpegStrict, an_empty_comment_and_a_zero_in_a_table_are_read_as_libjpeg_reads_them) {
  const Buffer sound = noisy(0);
  const Buffer commented = with(sound, 2, std::string_view("\xff\xfe\0\0", 4));
  EXPECT_EQ(doubt_of(commented, sound), "");
  Buffer zero = sound;
  zero[behind_marker(sound, 0xdb) + 2 + 1 + 63] = std::byte{0};
  EXPECT_EQ(doubt_of(zero, zero), "");
}

}  // namespace
}  // namespace feedrate::formats
