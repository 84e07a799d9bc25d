#include "formats/codecs/huffman.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace feedrate::formats {
namespace {

constexpr unsigned max_bits = 15;

using PerLength = std::array<std::uint32_t, max_huffman_symbols + 1>;

struct Leaf {
  std::uint16_t count;
  std::uint16_t symbol;
};

// By count, then by symbol: the codes must not depend on how a library's sort treats equal counts.
void sort_by_count(std::span<Leaf> leaves) {
  std::array<Leaf, max_huffman_symbols> other;
  const auto pass = [](std::span<const Leaf> from, std::span<Leaf> to, unsigned shift) {
    std::array<std::uint16_t, 257> begin{};
    for (const Leaf& leaf : from) ++begin[(leaf.count >> shift & 255U) + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) {
      begin[i] = static_cast<std::uint16_t>(begin[i] + begin[i - 1]);
    }
    for (const Leaf& leaf : from) to[begin[leaf.count >> shift & 255U]++] = leaf;
  };
  pass(leaves, std::span(other).first(leaves.size()), 0);
  pass(std::span(other).first(leaves.size()), leaves, 8);
}

// Builds Huffman's tree over leaves sorted by count and counts the leaves at each depth. Two queues
// suffice, because inner nodes come out sorted too.
PerLength leaves_by_depth(std::span<const Leaf> leaves) {
  constexpr std::size_t max_nodes = 2 * max_huffman_symbols;
  std::array<std::uint32_t, max_nodes> weight{};
  std::array<std::uint16_t, max_nodes> parent{};
  const std::size_t count = leaves.size(), nodes = 2 * count - 1;
  for (std::size_t i = 0; i < count; ++i) weight[i] = leaves[i].count;
  std::size_t leaf = 0, inner = count;
  for (std::size_t node = count; node < nodes; ++node) {
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < count && (inner == node || weight[leaf] <= weight[inner]);
      const std::size_t taken = take_leaf ? leaf++ : inner++;
      weight[node] += weight[taken];
      parent[taken] = static_cast<std::uint16_t>(node);
    }
  }
  std::array<std::uint16_t, max_nodes> depth{};
  PerLength by_depth{};
  for (std::size_t node = nodes - 1; node-- > 0;) {
    depth[node] = static_cast<std::uint16_t>(depth[parent[node]] + 1);
    if (node < count) ++by_depth[depth[node]];
  }
  return by_depth;
}

// Moves leaves below depth `longest` up to it. That overdraws the code space; each unit is paid
// back by a leaf that moves one level down and takes a deepest one as its sibling.
void limit(PerLength& by_length, unsigned longest, std::size_t deepest) {
  std::uint64_t used = 0;  // in units of the longest code
  for (std::size_t length = longest + 1; length <= deepest; ++length) {
    by_length[longest] += by_length[length];
  }
  for (unsigned length = 1; length <= longest; ++length) {
    used += std::uint64_t{by_length[length]} << (longest - length);
  }
  for (; used > std::uint64_t{1} << longest; --used) {
    unsigned length = longest - 1;
    while (by_length[length] == 0) --length;
    --by_length[length];
    by_length[length + 1] += 2;
    --by_length[longest];
  }
}

std::uint32_t reversed(std::uint32_t bits) {  // of 16 bits
  bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
  bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
  bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
  return (bits & 0x00ff) << 8 | bits >> 8;
}

}  // namespace

void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths) {
  assert(counts.size() <= max_huffman_symbols && lengths.size() == counts.size());
  assert(longest <= max_bits && std::size_t{1} << longest >= counts.size());
  std::fill(lengths.begin(), lengths.end(), std::uint8_t{0});
  std::array<Leaf, max_huffman_symbols> leaves;
  std::size_t used = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    assert(counts[symbol] <= 0xffff);
    if (counts[symbol] == 0) continue;
    leaves[used++] = {static_cast<std::uint16_t>(counts[symbol]),
                      static_cast<std::uint16_t>(symbol)};
  }
  if (used == 0) return;
  if (used == 1) {
    lengths[leaves[0].symbol] = 1;
    return;
  }
  sort_by_count(std::span(leaves).first(used));
  PerLength by_length = leaves_by_depth(std::span(leaves).first(used));
  limit(by_length, longest, used);
  std::size_t next = 0;  // the rarest symbols get the longest codes
  for (unsigned length = longest; length > 0; --length) {
    for (std::uint32_t i = 0; i < by_length[length]; ++i) {
      lengths[leaves[next++].symbol] = static_cast<std::uint8_t>(length);
    }
  }
}

void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, max_bits + 1> by_length{}, next{};
  for (const std::uint8_t length : lengths) ++by_length[length];
  by_length[0] = 0;
  for (unsigned length = 1; length <= max_bits; ++length) {
    next[length] = (next[length - 1] + by_length[length - 1]) << 1;
  }
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    const unsigned length = lengths[symbol];
    const std::uint32_t code = next[length]++;
    codes[symbol] = static_cast<std::uint16_t>(reversed(code) >> (16 - length));
  }
}

}  // namespace feedrate::formats
