// Our Huffman decoders beside libjpeg-turbo's: the same pixels, or the same error to the letter.

#include "formats/codecs/jpeg/jpeg_ways.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/codecs/jpeg/jpeg_index.h"
#include "tests/formats/jpeg_images.h"
#include "tests/formats/jpeg_kinds.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/jpeg_outcome.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using testing::baseline_kinds;
using testing::JpegKind;
using testing::noisy_jpeg;
using testing::random_part;

using Outcome = testing::JpegOutcome;

Outcome outcome_of(const HuffmanDecoding* how, Bytes encoded, Shape shape,
                   std::optional<Rect> part = std::nullopt) {
  static Buffer memory;  // shared by all: leftovers must not matter
  return testing::jpeg_outcome(how, encoded, shape, part, memory);
}

// The number of ways whose outcome is another than libjpeg-turbo's.
int wrong_ways(Bytes encoded, Shape shape, std::optional<Rect> part = std::nullopt) {
  const Outcome expected = outcome_of(nullptr, encoded, shape, part);
  int wrong = 0;
  if (!part && !expected.error.empty() && is_sound_jpeg(encoded)) {
    ++wrong;
    ADD_FAILURE() << "called sound, but: " << expected.error;
  }
  for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
    const Outcome found = outcome_of(how, encoded, shape, part);
    if (found == expected) continue;
    ++wrong;
    ADD_FAILURE() << how->name << (part ? ", a part: " : ": ") << "expected \"" << expected.error
                  << "\", found \"" << found.error << '"';
  }
  return wrong;
}

TEST(UnitJpegWays, all_kinds_of_sound_images_have_libjpegs_pixels_whole_and_in_parts) {
  std::mt19937 random(1);
  for (const JpegKind& kind : testing::many_of(baseline_kinds())) {
    for (const unsigned noise : {0U, 20U, 256U}) {
      for (const std::uint32_t channels : {3U, 1U}) {
        if (channels == 1 && kind.from == JCS_CMYK) continue;
        const Shape shape{1 + static_cast<std::uint32_t>(random() % 120),
                          1 + static_cast<std::uint32_t>(random() % 120), channels};
        const Buffer jpeg = noisy_jpeg(kind, shape, noise);
        SCOPED_TRACE(join(kind.across, "x", kind.down, ", restarts ", kind.restart, ", ",
                          shape.height, "x", shape.width, "x", channels));
        ASSERT_EQ(wrong_ways(jpeg, shape), 0);
        ASSERT_TRUE(is_sound_jpeg(jpeg));
        for (int i = 0; i < (testing::long_tests() ? 100 : 10); ++i)
          ASSERT_EQ(wrong_ways(jpeg, shape, random_part(random, shape)), 0);
      }
    }
  }
}

TEST(UnitJpegWays, photographs_have_libjpegs_pixels_whole_and_in_parts) {
  std::mt19937 random(2);
  const int parts = testing::long_tests() ? 100 : 4;
  const int photographs = testing::for_each_photograph([&](Bytes jpeg) {
    const Shape shape = jpeg_header(jpeg).shape;
    EXPECT_EQ(wrong_ways(jpeg, shape), 0);
    for (int i = 0; i < parts; ++i) {
      EXPECT_EQ(wrong_ways(jpeg, shape, random_part(random, shape)), 0);
    }
  });
  if (photographs == 0) GTEST_SKIP() << "no ImageNet here";
  EXPECT_GE(photographs, 40);
}

// Calls read() of the plain decoding, but fails at the MCU of that number.
int mcus_until_failure = 0;
const HuffmanDecoding failing = {
    "failing",
    [](std::span<const HuffmanBlock> mcu, ScanBits& bits, std::int16_t* const* to) {
      return mcus_until_failure-- != 0 && plain_huffman_decoding.read(mcu, bits, to);
    },
    [](std::span<const HuffmanBlock> mcu, ScanBits& bits) {
      return mcus_until_failure-- != 0 && plain_huffman_decoding.skip(mcu, bits);
    },
    [](HuffmanRun& one, HuffmanRun& other) {
      return mcus_until_failure-- != 0 && plain_huffman_decoding.read_two(one, other);
    }};

TEST(UnitJpegWays, libjpeg_takes_over_from_a_decoder_that_fails) {
  const Shape shape{40, 50, 3};
  const Buffer jpeg = noisy_jpeg({}, shape, 30);
  const Rect part{17, 20, 8, 9};
  const Outcome whole = outcome_of(nullptr, jpeg, shape);
  const Outcome some = outcome_of(nullptr, jpeg, shape, part);
  constexpr int mcus = 3 * 4;
  for (int mcu = 0; mcu <= mcus; ++mcu) {
    mcus_until_failure = mcu;
    EXPECT_EQ(outcome_of(&failing, jpeg, shape), whole);
    EXPECT_EQ(mcus_until_failure, mcu == mcus ? 0 : -1) << "every MCU is asked for";
    mcus_until_failure = mcu;
    EXPECT_EQ(outcome_of(&failing, jpeg, shape, part), some);
  }
}

TEST(UnitJpegWays, an_image_whose_index_leads_to_a_failure_is_decoded_without_it) {
  const Shape shape{100, 120, 3};
  const Buffer jpeg = noisy_jpeg({.restart = 3}, shape, 30);
  const Rect part{17, 20, 70, 60};
  const Outcome expected = outcome_of(nullptr, jpeg, shape, part);
  Buffer entry, memory;
  make_jpeg_index(jpeg, entry, 10);
  int reads = 0;
  for (bool failed = true; failed; ++reads) {
    mcus_until_failure = reads;
    JpegCounts counts;
    EXPECT_EQ(testing::jpeg_outcome(&failing, jpeg, shape, part, memory, {entry, &counts}),
              expected);
    failed = counts.stale != 0;
    EXPECT_EQ(counts.indexed, failed ? 0U : 1U);
  }
  EXPECT_GT(reads, 5) << "the rows, two at a time, from restart to restart";
}

std::vector<std::pair<Buffer, Shape>> small_jpegs() {
  std::vector<std::pair<Buffer, Shape>> all;
  for (const unsigned restart : {0U, 1U, 2U}) {
    for (const int across : {1, 2}) {
      const Shape shape{19, 21, 3};
      all.emplace_back(
          noisy_jpeg({.quality = 70, .across = across, .down = across, .restart = restart}, shape,
                     40),
          shape);
    }
  }
  const Shape grey{17, 9, 1};
  JpegKind optimal{.quality = 100};
  optimal.optimal = true;
  all.emplace_back(noisy_jpeg(optimal, grey, 256), grey);
  return all;
}

TEST(HostileJpegWays, every_truncation_has_libjpegs_outcome) {
  for (const auto& [jpeg, shape] : small_jpegs()) {
    const std::size_t scan = testing::behind_marker(jpeg, 0xda);
    for (std::size_t size = scan; size < jpeg.size(); ++size) {
      const testing::FencedBytes cut(Bytes(jpeg).first(size), testing::Fence::behind);
      ASSERT_EQ(wrong_ways(cut.bytes(), shape), 0) << size;
      ASSERT_EQ(wrong_ways(cut.bytes(), shape, Rect{8, 8, 1, 1}), 0) << size;
    }
  }
}

TEST(HostileJpegWays, every_flipped_bit_has_libjpegs_outcome) {
  for (const auto& [sound, shape] : small_jpegs()) {
    // In front of that are the quantisation tables, which the decoders do not read.
    for (std::size_t bit = 8 * testing::behind_marker(sound, 0xc4); bit < 8 * sound.size(); ++bit) {
      Buffer jpeg = sound;
      jpeg[bit / 8] ^= std::byte(1U << bit % 8);
      ASSERT_EQ(wrong_ways(jpeg, shape), 0) << bit;
      if (bit % 4 == 0) {
        ASSERT_EQ(wrong_ways(jpeg, shape, Rect{8, 8, 8, 8}), 0) << bit;
      }
    }
  }
}

TEST(HostileJpegWays, markers_and_bytes_anywhere_in_the_scan_have_libjpegs_outcome) {
  using namespace std::string_view_literals;
  for (const auto& [sound, shape] : small_jpegs()) {
    const std::size_t scan = testing::behind_marker(sound, 0xda) + 6;
    for (const std::string_view added :
         {"\xff\xd0"sv, "\xff\xd1"sv, "\xff\xd9"sv, "\xff"sv, "\xff\xff"sv, "\xff\x00"sv,
          "\xff\xff\x00"sv, "\x00"sv, "\xff\xc4"sv, "\x12\x34\x56\x78\x9a"sv}) {
      for (std::size_t at = scan; at <= sound.size(); ++at) {
        Buffer jpeg = sound;
        testing::insert(jpeg, at, added);
        ASSERT_EQ(wrong_ways(jpeg, shape), 0) << at;
        jpeg = sound;
        const std::size_t replaced = std::min(added.size(), jpeg.size() - at);
        std::copy_n(as_bytes(added).begin(), replaced, jpeg.begin() + static_cast<long>(at));
        ASSERT_EQ(wrong_ways(jpeg, shape), 0) << at;
      }
    }
  }
}

TEST(HostileJpegWays, a_table_without_codes_is_not_the_one_of_the_image_before) {
  const Shape shape{40, 50, 3};
  const Buffer sound = noisy_jpeg({}, shape, 40);
  for (const char table : {'\x00', '\x01', '\x10', '\x11'}) {
    Buffer empty = sound;
    const std::string segment = std::string("\xff\xc4\x00\x13", 4) + table + std::string(16, '\0');
    testing::insert(empty, testing::behind_marker(sound, 0xda) - 2, segment);
    ASSERT_EQ(wrong_ways(sound, shape), 0);
    ASSERT_EQ(wrong_ways(empty, shape), 0);
  }
}

TEST(HostileJpegWays, a_scan_without_its_restart_markers_has_libjpegs_outcome) {
  const Shape shape{40, 50, 3};
  const Buffer sound = noisy_jpeg({.restart = 2}, shape, 40);
  for (unsigned marker = 0xd0; marker < 0xd5; ++marker) {
    const std::size_t at = testing::behind_marker(sound, marker) - 2;
    Buffer lost = sound;
    lost.erase(lost.begin() + static_cast<long>(at), lost.begin() + static_cast<long>(at) + 2);
    ASSERT_EQ(wrong_ways(lost, shape), 0);
    for (unsigned other = 0xd0; other < 0xd8; ++other) {
      Buffer wrong = sound;
      wrong[at + 1] = static_cast<std::byte>(other);
      ASSERT_EQ(wrong_ways(wrong, shape), 0);
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
