#pragma once
// Prefix codes as deflate has them (RFC 1951, 3.2.2): lengths from counts, codes from lengths.
// Stateless; allocates nothing.

#include <cstdint>
#include <span>

namespace feedrate::formats {

inline constexpr std::size_t max_huffman_symbols = 288;

/// Gives each symbol the length of its code in bits: the best ones, or close to it where the best
/// would be longer than `longest`. 0 for symbols that do not occur, 1 for a lone one. At most
/// max_huffman_symbols; `longest` bits must suffice for them; each count is below 2^16.
void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths);

/// The canonical codes of those lengths (15 at most), lowest bit first as deflate writes them.
void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace feedrate::formats
