#include "formats/digests/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

namespace feedrate::formats {
namespace {

TEST(UnitFingerprint, every_bit_and_length_counts) {
  std::set<std::uint64_t> seen;
  std::size_t different = 0;
  for (std::size_t size = 0; size < 70; ++size) {
    Buffer bytes(size);
    seen.insert(fingerprint(bytes));
    ++different;
    for (std::size_t bit = 0; bit < 8 * size; ++bit, ++different) {
      bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      seen.insert(fingerprint(bytes));
      bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    }
  }
  EXPECT_EQ(seen.size(), different);
  EXPECT_FALSE(seen.contains(0));
}

TEST(UnitFingerprint, seeds_count) {
  for (std::size_t size = 0; size < 300; ++size) {
    const Buffer bytes(size);
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 8; ++seed) seen.insert(fingerprint(bytes, seed));
    EXPECT_EQ(seen.size(), 8U) << size;
  }
}

TEST(UnitFingerprint, words_that_change_places_change_it) {
  Buffer bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 8 + 1);
  std::set<std::uint64_t> seen{fingerprint(bytes)};
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = a + 1; b < 8; ++b) {
      Buffer swapped = bytes;
      for (std::size_t i = 0; i < 8; ++i) std::swap(swapped[8 * a + i], swapped[8 * b + i]);
      seen.insert(fingerprint(swapped));
    }
  }
  EXPECT_EQ(seen.size(), 29U);
}

}  // namespace
}  // namespace feedrate::formats
