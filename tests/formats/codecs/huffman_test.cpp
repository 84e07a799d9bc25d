#include "formats/codecs/huffman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <random>
#include <vector>

namespace feedrate::formats {
namespace {

using Counts = std::vector<std::uint32_t>;
using Lengths = std::vector<std::uint8_t>;

Lengths lengths_of(const Counts& counts, unsigned longest) {
  Lengths lengths(counts.size());
  make_code_lengths(counts, longest, lengths);
  return lengths;
}

// Kraft's sum: 1 when the codes fill the code space exactly.
double kraft_sum(const Lengths& lengths) {
  double sum = 0;
  for (const unsigned length : lengths)
    sum += length == 0 ? 0 : std::exp2(-static_cast<double>(length));
  return sum;
}

std::uint64_t total_bits(const Counts& counts, const Lengths& lengths) {
  return std::inner_product(counts.begin(), counts.end(), lengths.begin(), std::uint64_t{0});
}

// Huffman's own algorithm: merge the two lightest until one is left; each merge costs its weight.
std::uint64_t fewest_bits(const Counts& counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> weights;
  for (const std::uint32_t count : counts) {
    if (count != 0) weights.push(count);
  }
  std::uint64_t bits = 0;
  while (weights.size() > 1) {
    const std::uint64_t first = weights.top();
    weights.pop();
    const std::uint64_t joined = first + weights.top();
    weights.pop();
    weights.push(joined);
    bits += joined;
  }
  return bits;
}

TEST(UnitHuffman, codes_are_complete_and_as_short_as_can_be) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Counts counts(2 + random() % 285);
    for (std::uint32_t& count : counts) {
      count = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % (1U << random() % 12));
    }
    counts[0] = counts[1] = 1;
    const Lengths lengths = lengths_of(counts, 15);
    EXPECT_EQ(kraft_sum(lengths), 1);
    for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i] == 0, lengths[i] == 0);
    EXPECT_EQ(total_bits(counts, lengths), fewest_bits(counts));
  }
}

TEST(UnitHuffman, lengths_are_limited_without_losing_much) {
  Counts counts{1, 1};  // Fibonacci's numbers make the deepest tree
  while (counts.size() < 23) counts.push_back(counts.rbegin()[0] + counts.rbegin()[1]);
  EXPECT_EQ(std::ranges::max(lengths_of({counts.begin(), counts.begin() + 16}, 15)), 15);
  for (const unsigned longest : {14U, 9U, 7U, 5U}) {
    const Lengths lengths = lengths_of(counts, longest);
    EXPECT_EQ(std::ranges::max(lengths), longest);
    EXPECT_EQ(kraft_sum(lengths), 1);
    EXPECT_TRUE(std::ranges::is_sorted(lengths, std::greater<>())) << "rarer ones are longer";
  }
  EXPECT_LT(total_bits(counts, lengths_of(counts, 14)), fewest_bits(counts) * 101 / 100);
  const Counts even(256, 7);
  EXPECT_EQ(lengths_of(even, 8), Lengths(256, 8));
}

TEST(UnitHuffman, one_symbol_gets_one_bit_and_none_nothing) {
  EXPECT_EQ(lengths_of({0, 9, 0}, 7), (Lengths{0, 1, 0}));
  EXPECT_EQ(lengths_of({0, 0}, 7), (Lengths{0, 0}));
  EXPECT_EQ(lengths_of({65535, 1}, 7), (Lengths{1, 1}));
}

TEST(UnitHuffman, codes_are_those_of_the_standard_s_example) {
  // RFC 1951, 3.2.2: A…H of lengths 3 3 3 3 3 2 4 4 are 010 011 100 101 110 00 1110 1111.
  const Lengths lengths{3, 3, 3, 3, 3, 2, 4, 4};
  std::vector<std::uint16_t> codes(lengths.size());
  make_codes(lengths, codes);
  EXPECT_EQ(codes,
            (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}))
      << "lowest bit first";
}

}  // namespace
}  // namespace feedrate::formats
