#pragma once
// Letters of 5 x 7 dots and two rows below them, for pictures that say what they show.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedrate::formats {

inline constexpr std::uint32_t glyph_width = 5;
inline constexpr std::uint32_t glyph_height = 8;  // the last row is for the tails of g, j, p, q, y

/// Rows from the top, five bits each, the highest of them left.
using Glyph = std::array<std::uint8_t, glyph_height>;

/// Of a printable ASCII character; that of '?' for any other.
const Glyph& glyph(char letter);

/// `text` with one '?' for each character (code point of UTF-8) that has no glyph.
std::string drawable(std::string_view text);

}  // namespace feedrate::formats
