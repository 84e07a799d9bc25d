#pragma once
// Tables that turn the next bits of a baseline JPEG's scan into coefficients, one or two at a
// lookup.
//
// A code says how many zeros precede a coefficient and how many bits the coefficient has, at most
// 15; these bits follow the code. A lookup sees the next `ac_bits` bits: the first code, and the
// second one if it fits. So it knows where both coefficients lie, even if their bits are not seen:
//
//   | code 1 | coefficient 1 | code 2 | coefficient 2 |
//   |        ^ begin1        |        ^ begin2        ^ total
//   |<----- what the lookup sees ------->|
//
// Coefficients are computed from the bits: entries for each of their values would need more bits,
// thus slower tables, and find fewer pairs. Of photographs, a lookup finds 1.6 symbols.

#include <array>
#include <cstdint>

namespace feedrate::formats {

/// Bits that a lookup sees. More find more pairs, but the tables of luma and chroma must fit into
/// the first cache, beside the rest, and must be made for each image.
inline constexpr unsigned ac_bits = 10;
inline constexpr unsigned dc_bits = 9;
inline constexpr unsigned max_code_bits = 16;
inline constexpr unsigned max_coefficient_bits = 15;

/// A Huffman table as a JPEG states it.
struct HuffmanSpec {
  std::array<std::uint8_t, 17> counts{};  // [1 … 16]: codes of that many bits
  std::array<std::uint8_t, 256> symbols{};

  bool operator==(const HuffmanSpec&) const = default;
};

/// One symbol at a time, whatever the length of its code.
class HuffmanCodes {
 public:
  /// False for a table with more codes than symbols or bits exist.
  bool make(const HuffmanSpec& spec);

  struct Symbol {
    unsigned bits = 0;  // of the code; 0: no code of at most 16 bits begins so
    unsigned value = 0;
  };
  /// The symbol whose code begins at the highest bit; none has fewer than `shortest` bits.
  Symbol first(std::uint64_t bits, unsigned shortest = 1) const;

  /// Calls use(bits, symbol) for each code of up to `longest` bits, in the order of the codes.
  template <class Use>
  void for_each(unsigned longest, const Use& use) const {
    std::size_t i = 0;
    for (unsigned bits = 1; bits <= longest; ++bits) {
      for (unsigned n = 0; n < spec_.counts[bits]; ++n) use(bits, unsigned{spec_.symbols[i++]});
    }
  }

 private:
  HuffmanSpec spec_;
  std::array<std::uint32_t, 17> limit_{};  // [bits]: the first 16 bits beyond the codes so long
  std::array<std::int32_t, 17> symbol_{};  // [bits]: index of a symbol minus its code
};

/// Whether a symbol of an AC table ends a block: 0/0, and for libjpeg also those that the standard
/// leaves undefined. 15/0 means 16 zeros.
constexpr bool ends_block(unsigned symbol) { return (symbol & 15) == 0 && symbol != 0xf0; }

/// Marks in AcLookup::advance.
inline constexpr unsigned block_ends = 64;  // added where the last code ends the block
inline constexpr unsigned no_lookup =
    128;  // a code that the lookup does not see, or an invalid one

struct AcLookup {
  std::uint8_t advance = no_lookup;  // coefficients, zeros included; and a mark
  std::uint8_t begin1 = 0;           // bits in front of the first coefficient
  std::uint8_t unused1 = 63;         // 63 - its bits, so 63 where it is zero
  std::uint8_t zeros1 = 0;           // zeros in front of it
  // The same of the second, from the beginning; where there is none, of the first.
  std::uint8_t begin2 = 0, unused2 = 63, zeros2 = 0;
  std::uint8_t total = 0;  // bits of all that was found
};

struct DcLookup {
  std::uint8_t total = 0;  // 0: an invalid code, or one that the lookup cannot see
  std::uint8_t begin = 0;
  std::uint8_t unused = 63;
};

struct AcTable {
  HuffmanCodes codes;
  std::array<AcLookup, 1U << ac_bits> lookup;
  std::array<std::uint8_t, 1U << ac_bits> total;  // of each, because the next lookup waits for it

  /// False as for HuffmanCodes.
  bool make(const HuffmanSpec& spec);
};

struct DcTable {
  HuffmanCodes codes;
  std::array<DcLookup, 1U << dc_bits> lookup;

  /// False also for a symbol over 15.
  bool make(const HuffmanSpec& spec);
};

}  // namespace feedrate::formats
