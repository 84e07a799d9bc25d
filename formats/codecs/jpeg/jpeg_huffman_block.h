#pragma once
// The inner loops of jpeg_huffman.h, to be compiled for several instruction sets: those of
// FEEDRATE_HUFFMAN_TARGET, if it is defined first. Everything is inlined into the function that is
// compiled.

#include "formats/codecs/jpeg/jpeg_huffman.h"

namespace feedrate::formats {

#define FEEDRATE_INLINE __attribute__((always_inline)) inline
#ifndef FEEDRATE_HUFFMAN_TARGET
#define FEEDRATE_HUFFMAN_TARGET
#endif

// Where the zigzag leads, in natural order. A sound block has 64; a damaged one may lead beyond.
inline constexpr std::array<std::uint8_t, 128> natural_order = [] {
  std::array<std::uint8_t, 128> order{};
  order.fill(63);
  unsigned x = 0, y = 0;
  for (unsigned i = 0; i < 64; ++i) {
    order[i] = static_cast<std::uint8_t>(8 * y + x);
    const bool up = (x + y) % 2 == 0;
    if (up ? x == 7 : y == 7) {
      up ? ++y : ++x;
    } else if (up ? y == 0 : x == 0) {
      up ? ++x : ++y;
    } else {
      up ? (++x, --y) : (--x, ++y);
    }
  }
  return order;
}();

FEEDRATE_INLINE std::uint64_t load_word(const std::byte* at) {
  return __builtin_bswap64(load_le<std::uint64_t>(at));  // GCC 12 makes 30 instructions of load_be
}

// Shifts `used` bits out.
FEEDRATE_INLINE void use(ScanBits& in, unsigned used) {
  in.bits <<= used & 63;
  in.count -= used;
}

// Fills the bits again: all 64 are valid then. `word` is what was at `next`; it is loaded early, so
// that nothing waits for it.
FEEDRATE_INLINE void refill(ScanBits& in, std::uint64_t word) {
  in.bits |= word >> (in.count & 63);
  in.next += (63 - in.count) >> 3;
  in.count |= 56;
}

// The coefficient of `63 - unused` bits behind the first `begin` ones. A leading 0 says that it is
// negative, and that all its bits are inverted.
FEEDRATE_INLINE std::int16_t coefficient(std::uint64_t bits, unsigned begin, unsigned unused) {
  const std::uint64_t from = bits << (begin & 63);
  const auto negative = static_cast<std::uint64_t>(static_cast<std::int64_t>(~from) >> 63);
  return static_cast<std::int16_t>(((from ^ negative) >> 1 >> (unused & 63) ^ negative) - negative);
}

// A symbol and its coefficient the slow way, whatever the length of its code. `bits` are full.
struct SlowSymbol {
  unsigned symbol = 0;
  std::int16_t value = 0;
  bool valid = false;
};

// No code is shorter than `shortest`.
inline SlowSymbol read_slowly(const HuffmanCodes& codes, unsigned shortest, ScanBits& in) {
  const std::uint64_t word = load_word(in.next);
  const HuffmanCodes::Symbol found = codes.first(in.bits, shortest);
  const unsigned size = found.value & 15;
  const std::int16_t value = coefficient(in.bits, found.bits, 63 - size);
  use(in, found.bits + size);
  refill(in, word);
  return {found.value, value, found.bits != 0};
}

// Refills.
FEEDRATE_INLINE bool read_mean(const DcTable& table, ScanBits& in, int& mean) {
  const DcLookup& found = table.lookup[in.bits >> (64 - dc_bits)];
  if (found.total == 0) [[unlikely]] {
    const SlowSymbol slow = read_slowly(table.codes, 1, in);
    mean += slow.value;
    return slow.valid;
  }
  const std::uint64_t word = load_word(in.next);
  mean += coefficient(in.bits, found.begin, found.unused);
  use(in, found.total);
  refill(in, word);
  return true;
}

// Stores the coefficients of a lookup one by one.
struct OneByOne {
  FEEDRATE_INLINE static void store(std::uint64_t bits, const AcLookup& found, unsigned at,
                                    std::int16_t* to) {
    // In this order: where there is no second coefficient, the first one overwrites it.
    const std::uint8_t* order = &natural_order[at];
    to[order[found.zeros2]] = coefficient(bits, found.begin2, found.unused2);
    to[order[found.zeros1]] = coefficient(bits, found.begin1, found.unused1);
  }
};

// Lookups between two refills, each of which may take the bits of a pair.
inline constexpr unsigned lookups_at_once = 2;
static_assert(lookups_at_once * (ac_bits + max_coefficient_bits) <= 64);

enum class Coefficients { kept, skipped };

// The end of a block as a lookup found it: where the next coefficient would be, and whether it is
// sound. Otherwise the lookup is to be read symbol by symbol.
FEEDRATE_INLINE bool ends_soundly(unsigned at, unsigned advance) {
  if (at + advance == 64) return true;  // without a code for it
  return advance >= block_ends && advance < no_lookup && at + advance - block_ends < 64;
}

// A Pair stores the coefficients of a lookup.
template <Coefficients what, class Pair>
FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE bool read_block(const HuffmanBlock& block, ScanBits& in,
                                                        std::int16_t* to) {
  if (!read_mean(*block.dc, in, *block.mean)) return false;
  if constexpr (what == Coefficients::kept) *to = static_cast<std::int16_t>(*block.mean);
  const AcTable& table = *block.ac;
  unsigned at = 1;
  for (;;) {
    const std::uint64_t word = load_word(in.next);
    const AcLookup* found = nullptr;
#pragma GCC unroll 2
    for (unsigned i = 0; i < lookups_at_once; ++i) {
      const std::size_t seen = in.bits >> (64 - ac_bits);
      const unsigned total = table.total[seen];
      found = &table.lookup[seen];
      if constexpr (what == Coefficients::kept) Pair::store(in.bits, *found, at, to);
      if (at + found->advance >= 64) [[unlikely]]
        goto ended;
      at += found->advance;
      use(in, total);
    }
    refill(in, word);
    continue;
  ended:
    if (ends_soundly(at, found->advance)) {
      use(in, found->total);
      refill(in, word);
      return true;
    }
    // A long code, or a second symbol that belongs to the next block.
    refill(in, word);
    const unsigned shortest = found->advance == no_lookup ? ac_bits + 1 : 1;
    const SlowSymbol slow = read_slowly(table.codes, shortest, in);
    if (!slow.valid) return false;
    if (ends_block(slow.symbol)) return true;
    at += slow.symbol >> 4;
    if constexpr (what == Coefficients::kept) to[natural_order[at]] = slow.value;
    if (++at >= 64) return at == 64;
  }
}

template <class Pair>
FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE bool read_mcu(std::span<const HuffmanBlock> mcu,
                                                      ScanBits& bits, std::int16_t* const* to) {
  ScanBits in = bits;
  for (std::size_t i = 0; i < mcu.size(); ++i) {
    if (!read_block<Coefficients::kept, Pair>(mcu[i], in, to[i])) return false;
  }
  bits = in;
  return true;
}

template <class Pair>
FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE bool skip_mcu(std::span<const HuffmanBlock> mcu,
                                                      ScanBits& bits) {
  ScanBits in = bits;
  for (const HuffmanBlock& block : mcu) {
    if (!read_block<Coefficients::skipped, Pair>(block, in, nullptr)) return false;
  }
  bits = in;
  return true;
}

}  // namespace feedrate::formats
