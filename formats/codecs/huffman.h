#pragma once
// Prefix codes as deflate defines them (RFC 1951, 3.2.2): lengths from counts, codes from lengths.
// Stateless; allocates nothing.

#include <cstdint>
#include <span>

namespace feedrate::formats {

inline constexpr std::size_t max_huffman_symbols = 288;

/// Gives each symbol the length of its code in bits: the optimal lengths, or nearly optimal ones
/// where those would exceed `longest`. 0 for symbols that do not occur, 1 for a lone one. There are
/// at most max_huffman_symbols symbols, `longest` bits suffice for them, and each count is below
/// 2^16.
void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths);

/// The canonical codes of those lengths (at most 15), lowest bit first as deflate writes them.
void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace feedrate::formats
