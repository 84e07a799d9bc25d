// Parts of JPEGs decoded with an index: the same pixels and errors as without one.

#include "formats/codecs/jpeg/jpeg_index.h"

#include <gtest/gtest.h>

#include "formats/codecs/jpeg/jpeg_index_layout.h"
#include "formats/digests/fingerprint.h"
#include "tests/formats/jpeg_images.h"
#include "tests/formats/jpeg_kinds.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/jpeg_outcome.h"

namespace feedrate::formats {
namespace {

using testing::JpegKind;
using testing::noisy_jpeg;
using testing::random_part;

constexpr double large_share = 10;  // lets small images have all points

Buffer entry_of(Bytes jpeg, double share = default_index_share) {
  Buffer entry;
  make_jpeg_index(jpeg, entry, share);
  return entry;
}

struct Result {
  testing::JpegOutcome outcome;
  JpegCounts counts;
};

Result decode(const HuffmanDecoding* how, Bytes jpeg, Shape shape, const Rect& part, Bytes entry) {
  static Buffer memory;  // shared by all: leftovers must not matter
  Result result;
  result.outcome = testing::jpeg_outcome(how, jpeg, shape, part, memory, {entry, &result.counts});
  return result;
}

Result decode(Bytes jpeg, Shape shape, const Rect& part, Bytes entry) {
  return decode(runnable_huffman_decodings().front(), jpeg, shape, part, entry);
}

// Whether the part has the same outcome with the index as by libjpeg alone.
bool is_same(Bytes jpeg, Shape shape, const Rect& part, const Result& found) {
  static Buffer memory;
  return found.outcome == testing::jpeg_outcome(nullptr, jpeg, shape, part, memory);
}

// That of every way, where it is used.
void expect_same(Bytes jpeg, Shape shape, const Rect& part, Bytes entry) {
  for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
    const Result found = decode(how, jpeg, shape, part, entry);
    EXPECT_TRUE(is_same(jpeg, shape, part, found)) << how->name << found.outcome.error;
    EXPECT_EQ(found.counts.indexed, entry.empty() ? 0U : 1U) << how->name;
    EXPECT_EQ(found.counts.stale, 0U) << how->name;
  }
}

TEST(UnitJpegIndex, parts_of_all_kinds_of_images_have_libjpegs_pixels) {
  std::mt19937 random(1);
  for (const JpegKind& kind : testing::many_of(testing::baseline_kinds())) {
    for (const std::uint32_t channels : {3U, 1U}) {
      if (channels == 1 && kind.from == JCS_CMYK) continue;
      const Shape shape{40 + static_cast<std::uint32_t>(random() % 120),
                        40 + static_cast<std::uint32_t>(random() % 120), channels};
      const Buffer jpeg = noisy_jpeg(kind, shape, channels == 1 ? 256 : 20);
      SCOPED_TRACE(join(kind.across, "x", kind.down, ", restarts ", kind.restart, ", ",
                        shape.height, "x", shape.width, "x", channels));
      for (const double share : {large_share, 0.3, 0.1}) {
        const Buffer entry = entry_of(jpeg, share);
        ASSERT_EQ(entry.empty(), false);
        ASSERT_LE(entry.size(), share * static_cast<double>(jpeg.size()));
        const testing::FencedBytes fenced(entry, testing::Fence::behind);
        for (int i = 0; i < (testing::long_tests() ? 34 : 15); ++i) {
          expect_same(jpeg, shape, random_part(random, shape), fenced.bytes());
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(UnitJpegIndex, parts_of_photographs_have_libjpegs_pixels) {
  const int parts = testing::long_tests() ? 100 : 5;
  std::mt19937 random(2);
  int indexed = 0;
  const int photographs = testing::for_each_photograph([&](Bytes jpeg) {
    const Shape shape = jpeg_header(jpeg).shape;
    const Buffer entry = entry_of(jpeg);
    EXPECT_EQ(entry.empty(), jpeg_header(jpeg).progressive);
    EXPECT_LE(static_cast<double>(entry.size()), 0.028 * static_cast<double>(jpeg.size()));
    if (!entry.empty()) ++indexed;
    for (int i = 0; i < parts; ++i) {
      expect_same(jpeg, shape, random_part(random, shape), entry);
    }
  });
  if (photographs == 0) GTEST_SKIP() << "no ImageNet here";
  EXPECT_GE(indexed, photographs * 9 / 10);
}

// The codes of a run exceed the window of ScanBytes, as in camera originals.
TEST(UnitJpegIndex, a_fresh_entry_of_a_dense_image_is_never_stale) {
  std::mt19937 random(5);
  std::size_t largest = 0;
  for (JpegKind kind : testing::baseline_kinds()) {
    if (kind.restart == 1) kind.restart = 50;
    kind.quality = random() % 2 == 0 ? 95 : 100;
    const Shape shape{192, 800, 3};
    const Buffer jpeg = noisy_jpeg(kind, shape, 256);
    largest = std::max(largest, jpeg.size());
    SCOPED_TRACE(
        join(kind.across, "x", kind.down, ", restarts ", kind.restart, ", quality ", kind.quality));
    const Buffer entry = entry_of(jpeg);
    ASSERT_FALSE(entry.empty());
    for (int i = 0; i < 8; ++i) {
      expect_same(jpeg, shape, random_part(random, shape), entry);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(largest, 300'000U);
}

// A row of MCUs takes several runs.
TEST(UnitJpegIndex, parts_of_wide_images_have_libjpegs_pixels) {
  std::mt19937 random(3);
  for (const int across : {1, 2}) {
    const Shape shape{40, 3200, 3};
    const Buffer jpeg = noisy_jpeg({.across = across, .down = across, .restart = 7}, shape, 20);
    const Buffer entry = entry_of(jpeg, large_share);
    expect_same(jpeg, shape, {0, 0, shape.height, shape.width}, entry);
    for (int i = 0; i < 20; ++i) expect_same(jpeg, shape, random_part(random, shape), entry);
  }
}

TEST(UnitJpegIndex, parts_of_shrunk_images_have_libjpegs_pixels) {
  std::mt19937 random(4);
  const Shape shape{150, 170, 3};
  for (const int across : {1, 2}) {
    const Buffer jpeg = noisy_jpeg({.across = across, .down = across}, shape, 20);
    const Buffer entry = entry_of(jpeg, large_share);
    for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
      for (int i = 0; i < 20; ++i) {
        const Rect part = random_part(random, shrunk_shape(shape, shrunk));
        const auto pixels = [&](const HuffmanDecoding* how, const JpegAid& aid) {
          Buffer memory, all;
          const PixelRows rows = decode_jpeg_part(how, jpeg, shape, part, memory, aid, shrunk);
          for (std::size_t y = 0; y < part.height; ++y) {
            append(all, {rows.first + y * rows.stride, std::size_t{part.width} * 3});
          }
          return all;
        };
        const Buffer expected = pixels(nullptr, {});
        for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
          JpegCounts counts;
          ASSERT_EQ(pixels(how, {entry, &counts}), expected) << how->name << ", 1/" << shrunk;
          ASSERT_EQ(counts.indexed, 1U);
        }
      }
    }
  }
}

TEST(UnitJpegIndex, only_the_mcus_of_the_part_and_its_neighbours_are_decoded) {
  const Shape shape{160, 160, 3};  // 10 x 10 MCUs of 16 x 16 pixels
  const Buffer jpeg = noisy_jpeg({}, shape, 20);
  const Buffer entry = entry_of(jpeg, large_share);
  const Rect part{70, 70, 4, 4};  // inside the fifth of the fifth row
  const JpegCounts with = decode(jpeg, shape, part, entry).counts;
  const JpegCounts without = decode(jpeg, shape, part, {}).counts;
  EXPECT_EQ(with.mcus, 100U);
  EXPECT_EQ(with.bytes, jpeg.size());
  EXPECT_LE(with.mcus_read, 9U);
  EXPECT_GE(without.mcus_read, 50U);
  EXPECT_EQ(without.indexed, 0U);
  EXPECT_LT(with.bytes_read * 4, without.bytes_read);
  EXPECT_LT(without.bytes_read, jpeg.size());
  // Rows are read two at a time, but none below the part.
  EXPECT_EQ(decode(jpeg, shape, {0, 0, 40, 160}, entry).counts.mcus_read, 30U);
  EXPECT_EQ(decode(jpeg, shape, {0, 0, 46, 160}, entry).counts.mcus_read, 30U);
  EXPECT_EQ(decode(jpeg, shape, {0, 0, 47, 160}, entry).counts.mcus_read, 40U) << "for its chroma";
}

TEST(UnitJpegIndex, what_cannot_be_relied_on_has_an_empty_entry) {
  const Shape shape{160, 160, 3};
  EXPECT_FALSE(entry_of(noisy_jpeg({}, shape, 20), large_share).empty());
  EXPECT_TRUE(entry_of(noisy_jpeg({.progressive = true}, shape, 20), large_share).empty());
  EXPECT_TRUE(entry_of(noisy_jpeg({.arithmetic = true}, shape, 20), large_share).empty());
  EXPECT_TRUE(entry_of(noisy_jpeg({}, {16, 16, 3}, 20), large_share).empty()) << "a single MCU";
  EXPECT_TRUE(entry_of(noisy_jpeg({}, {40, 40, 3}, 20)).empty()) << "too small for 2.8 %";
  EXPECT_TRUE(entry_of(as_bytes("no JPEG at all, but longer than an entry's header"), 9).empty());
  const Buffer jpeg = noisy_jpeg({}, shape, 20);
  for (std::size_t size = 0; size < jpeg.size(); size += 7) {
    ASSERT_TRUE(entry_of(Bytes(jpeg).first(size), large_share).empty()) << size;
  }
}

struct Example {
  Shape shape{64, 80, 3};
  Buffer jpeg = noisy_jpeg({.restart = 3}, shape, 40);
  Buffer entry = entry_of(jpeg, large_share);
  Rect part{20, 30, 9, 17};
};

TEST(HostileJpegIndex, every_flipped_bit_and_truncation_of_an_entry_is_noticed) {
  const Example example;
  const auto expect_stale = [&](Bytes entry) {
    const testing::FencedBytes fenced(entry, testing::Fence::behind);
    const Result found = decode(example.jpeg, example.shape, example.part, fenced.bytes());
    ASSERT_TRUE(is_same(example.jpeg, example.shape, example.part, found));
    ASSERT_EQ(found.counts.stale, 1U);
    ASSERT_EQ(found.counts.indexed, 0U);
    ASSERT_EQ(found.counts.parts, 1U);
  };
  for (std::size_t bit = 0; bit < 8 * example.entry.size(); ++bit) {
    Buffer entry = example.entry;
    entry[bit / 8] ^= std::byte(1U << bit % 8);
    ASSERT_NO_FATAL_FAILURE(expect_stale(entry)) << bit;
  }
  for (std::size_t size = 1; size < example.entry.size(); ++size) {
    ASSERT_NO_FATAL_FAILURE(expect_stale(Bytes(example.entry).first(size))) << size;
  }
}

TEST(HostileJpegIndex, an_entry_is_not_used_for_a_jpeg_with_any_other_bit) {
  const Example example;
  const std::size_t scan = testing::behind_marker(example.jpeg, 0xc4);
  for (std::size_t bit = 8 * scan; bit < 8 * example.jpeg.size(); bit += 3) {
    Buffer jpeg = example.jpeg;
    jpeg[bit / 8] ^= std::byte(1U << bit % 8);
    const Result found = decode(jpeg, example.shape, example.part, example.entry);
    ASSERT_TRUE(is_same(jpeg, example.shape, example.part, found)) << bit;
    ASSERT_EQ(found.counts.stale, 1U) << bit;
  }
}

// With a right checksum, wrong points may give wrong pixels, but never reach beyond any memory.
TEST(HostileJpegIndex, wrong_points_with_a_right_checksum_do_no_harm) {
  const Example example;
  const testing::FencedBytes jpeg(example.jpeg, testing::Fence::behind);
  int without = 0;
  for (std::size_t bit = 8 * jpeg_index::size_at; bit < 8 * example.entry.size(); ++bit) {
    Buffer entry = example.entry;
    entry[bit / 8] ^= std::byte(1U << bit % 8);
    const std::uint64_t checksum = fingerprint(Bytes(entry).subspan(jpeg_index::hash_at));
    std::memcpy(entry.data(), &checksum, sizeof checksum);
    const testing::FencedBytes fenced(entry, testing::Fence::behind);
    const Result found = decode(jpeg.bytes(), example.shape, example.part, fenced.bytes());
    ASSERT_EQ(found.outcome.error, "") << bit;
    ASSERT_EQ(found.counts.parts, 1U);
    if (found.counts.stale == 0) continue;
    ++without;
    ASSERT_TRUE(is_same(example.jpeg, example.shape, example.part, found)) << bit;
  }
  EXPECT_GT(without, 100);
}

}  // namespace
}  // namespace feedrate::formats
