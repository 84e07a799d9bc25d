#pragma once
// Sizes of what every PNG begins with (PNG specification, 5).

#include <cstddef>

namespace feedrate::formats {

inline constexpr std::size_t png_signature = 8;
inline constexpr std::size_t png_chunk_overhead = 12;  // length, type and CRC of a chunk
inline constexpr std::size_t png_header =
    png_signature + png_chunk_overhead + 13;  // up to IHDR's end

}  // namespace feedrate::formats
