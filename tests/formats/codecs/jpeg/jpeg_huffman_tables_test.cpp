#include "formats/codecs/jpeg/jpeg_huffman_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace feedrate::formats {
namespace {

// Codes of random lengths that do not overdraw the code space.
HuffmanSpec random_spec(std::mt19937& random, unsigned symbol_mask) {
  HuffmanSpec spec;
  unsigned left = 1, symbols = 0;
  for (unsigned bits = 1; bits <= max_code_bits; ++bits) {
    left *= 2;
    const auto count = std::min<unsigned>(static_cast<unsigned>(random()) % (left / 2 + 1),
                                          std::min(255 - symbols, left));
    spec.counts[bits] = static_cast<std::uint8_t>(count);
    left = std::min(left - count, 1024U);
    for (unsigned i = 0; i < count; ++i) {
      spec.symbols[symbols++] = static_cast<std::uint8_t>(random() & symbol_mask);
    }
  }
  return spec;
}

// As the standard's figure F.16 has it: a bit at a time.
HuffmanCodes::Symbol read_plainly(const HuffmanSpec& spec, std::uint64_t next) {
  unsigned code = 0, first = 0, symbol = 0;
  for (unsigned bits = 1; bits <= max_code_bits; ++bits) {
    code = code << 1 | static_cast<unsigned>(next >> 63);
    next <<= 1;
    const unsigned count = spec.counts[bits];
    if (code < first + count) return {bits, spec.symbols[symbol + code - first]};
    first = (first + count) << 1;
    symbol += count;
  }
  return {};
}

TEST(UnitJpegHuffmanTables, codes_are_those_of_the_standard) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const HuffmanSpec spec = random_spec(random, 255);
    HuffmanCodes codes;
    ASSERT_TRUE(codes.make(spec));
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t next = std::uint64_t{static_cast<std::uint32_t>(random())} << 32;
      const HuffmanCodes::Symbol found = codes.first(next), expected = read_plainly(spec, next);
      ASSERT_EQ(found.bits, expected.bits);
      ASSERT_EQ(found.value, expected.value);
    }
  }
}

TEST(UnitJpegHuffmanTables, a_lookup_finds_what_symbol_by_symbol_is_found) {
  std::mt19937 random(2);
  AcTable table;
  for (int round = 0; round < 100; ++round) {
    const HuffmanSpec spec = random_spec(random, 255);
    ASSERT_TRUE(table.make(spec));
    for (std::uint64_t seen = 0; seen < table.lookup.size(); ++seen) {
      const std::uint64_t next = seen << (64 - ac_bits);
      const AcLookup& found = table.lookup[seen];
      ASSERT_EQ(found.total, table.total[seen]);
      const HuffmanCodes::Symbol first = read_plainly(spec, next);
      if (first.bits == 0 || first.bits > ac_bits) {
        ASSERT_EQ(found.advance, no_lookup);
        continue;
      }
      const unsigned used = first.bits + first.value % 16;
      if (ends_block(first.value)) {
        ASSERT_EQ(found.advance, block_ends);
        ASSERT_EQ(found.total, first.bits);
        continue;
      }
      ASSERT_EQ(found.begin1, first.bits);
      ASSERT_EQ(found.unused1, 63 - first.value % 16);
      ASSERT_EQ(found.zeros1, first.value / 16);
      const HuffmanCodes::Symbol second = read_plainly(spec, next << used);
      if (second.bits == 0 || used + second.bits > ac_bits) {
        ASSERT_EQ(found.total, used);
        ASSERT_EQ(found.advance, first.value / 16 + 1);
        ASSERT_EQ(found.zeros2, found.zeros1);
      } else if (ends_block(second.value)) {
        ASSERT_EQ(found.total, used + second.bits);
        ASSERT_EQ(found.advance, first.value / 16 + 1 + block_ends);
        ASSERT_EQ(found.zeros2, found.zeros1);
      } else {
        ASSERT_EQ(found.begin2, used + second.bits);
        ASSERT_EQ(found.unused2, 63 - second.value % 16);
        ASSERT_EQ(found.zeros2, first.value / 16 + 1 + second.value / 16);
        ASSERT_EQ(found.advance, found.zeros2 + 1);
        ASSERT_EQ(found.total, found.begin2 + second.value % 16);
      }
    }
  }
}

TEST(HostileJpegHuffmanTables, impossible_tables_are_refused) {
  HuffmanSpec spec;
  spec.counts[1] = 3;  // of one bit, there are two codes
  EXPECT_FALSE(AcTable().make(spec));
  spec.counts[1] = 0;
  spec.counts[15] = 255;
  spec.counts[16] = 2;  // of 256 symbols
  EXPECT_FALSE(AcTable().make(spec));
  spec.counts[16] = 1;
  EXPECT_TRUE(AcTable().make(spec));
  HuffmanSpec dc;
  dc.counts[2] = 1;
  dc.symbols[0] = 16;  // more bits than a mean has
  EXPECT_FALSE(DcTable().make(dc));
  dc.symbols[0] = 15;
  EXPECT_TRUE(DcTable().make(dc));
}

}  // namespace
}  // namespace feedrate::formats
