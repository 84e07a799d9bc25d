#include "formats/codecs/jpeg/jpeg_huffman_tables.h"

#include <algorithm>
#include <bit>

namespace feedrate::formats {
namespace {

std::uint8_t byte(unsigned value) { return static_cast<std::uint8_t>(value); }

// A symbol of an AC table: zeros in the higher four bits, bits of the coefficient in the lower.
unsigned zeros_of(unsigned symbol) { return symbol >> 4; }
unsigned bits_of(unsigned symbol) { return symbol & 15; }

AcLookup lookup_of_one(unsigned bits, unsigned symbol) {
  const unsigned size = bits_of(symbol), zeros = ends_block(symbol) ? 0 : zeros_of(symbol);
  AcLookup one;
  one.advance = byte(ends_block(symbol) ? block_ends : zeros + 1);
  one.begin1 = one.begin2 = byte(bits);
  one.unused1 = one.unused2 = byte(63 - size);
  one.zeros1 = one.zeros2 = byte(zeros);
  one.total = byte(bits + size);
  return one;
}

constexpr std::uint64_t lane(unsigned i) { return std::uint64_t{255} << (8 * i); }

// Both symbols where the lookup sees the second one's code, else the first. Works on all bytes of
// an AcLookup at once and without branches, which nothing could predict.
AcLookup joined(const AcLookup& first, const AcLookup& second) {
  const auto one = std::bit_cast<std::uint64_t>(first), two = std::bit_cast<std::uint64_t>(second);
  const std::uint64_t ends = one + (two & (lane(0) | lane(7)));  // advance and total
  const std::uint64_t coefficient =
      (ends & ~(lane(4) | lane(5) | lane(6))) + ((two & (lane(1) | lane(2) | lane(3))) << 24) +
      (std::uint64_t{first.total} << 32) + (std::uint64_t{first.advance} << 48);
  const bool fits = static_cast<int>(first.advance < block_ends) &
                    static_cast<int>(second.advance < no_lookup) &
                    static_cast<int>(first.total + second.begin1 <= int{ac_bits});
  const std::uint64_t both = second.advance < block_ends ? coefficient : ends;
  return std::bit_cast<AcLookup>(fits ? both : one);
}

}  // namespace

bool HuffmanCodes::make(const HuffmanSpec& spec) {
  std::uint32_t code = 0, symbol = 0;
  for (unsigned bits = 1; bits <= max_code_bits; ++bits) {
    symbol_[bits] = static_cast<std::int32_t>(symbol) - static_cast<std::int32_t>(code);
    symbol += spec.counts[bits];
    code += spec.counts[bits];
    if (code > 1U << bits || symbol > spec.symbols.size()) return false;
    limit_[bits] = code << (max_code_bits - bits);
    code <<= 1;
  }
  spec_ = spec;
  return true;
}

HuffmanCodes::Symbol HuffmanCodes::first(std::uint64_t next, unsigned shortest) const {
  const auto peeked = static_cast<std::uint32_t>(next >> (64 - max_code_bits));
  for (unsigned bits = shortest; bits <= max_code_bits; ++bits) {
    if (peeked >= limit_[bits]) continue;
    const auto code = static_cast<std::int32_t>(peeked >> (max_code_bits - bits));
    return {bits, spec_.symbols[static_cast<std::size_t>(code + symbol_[bits])]};
  }
  return {};
}

bool AcTable::make(const HuffmanSpec& spec) {
  if (!codes.make(spec)) return false;
  std::array<AcLookup, 1U << ac_bits> ones;
  auto* to = ones.begin();
  codes.for_each(ac_bits, [&](unsigned bits, unsigned symbol) {
    to = std::fill_n(to, 1U << (ac_bits - bits), lookup_of_one(bits, symbol));
  });
  std::fill(to, ones.end(), AcLookup{});
  for (std::size_t i = 0; i < ones.size(); ++i) {
    lookup[i] = joined(ones[i], ones[(i << ones[i].total) % ones.size()]);
    total[i] = lookup[i].total;
  }
  return true;
}

bool DcTable::make(const HuffmanSpec& spec) {
  if (!codes.make(spec)) return false;
  bool valid = true;
  codes.for_each(max_code_bits, [&](unsigned, unsigned symbol) {
    valid = valid && symbol <= max_coefficient_bits;
  });
  if (!valid) return false;
  auto* to = lookup.begin();
  codes.for_each(dc_bits, [&](unsigned bits, unsigned size) {
    const DcLookup one{byte(bits + size), byte(bits), byte(63 - size)};
    to = std::fill_n(to, 1U << (dc_bits - bits), one);
  });
  std::fill(to, lookup.end(), DcLookup{});
  return true;
}

}  // namespace feedrate::formats
