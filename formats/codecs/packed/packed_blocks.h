#pragma once
// One 8 x 8 block of a packed JPEG: the mean (DC), then 63 coefficients in zigzag order.
//
//   u8 head | DC in 0, 1 or 2 bytes | which of the 63 are not zero, n bytes | their nibbles |
//   those that a nibble does not hold
//
//   head      bits 0-3: n, up to 8 | bits 4-5: bytes of DC | bit 6: wide | bit 7: zero
//   which     bit i: the coefficient i + 1 of the zigzag; as many bytes as the last one needs
//   nibbles   -8 … 7, two a byte, the lower four bits first; 0: the value follows
//   follow    int8 each; where wide, all lower bytes, then all higher bytes
//
// A block of zeros is the byte 0. Other blocks take 3 to 169 bytes; of an ImageNet photograph, 19.

#include <span>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// The largest size of a block, in bytes.
inline constexpr std::size_t max_block_bytes = 1 + 2 + 8 + 32 + 2 * 63;
/// Readers may load this many bytes beyond the end of a block; their values do not matter.
inline constexpr std::size_t block_slack = 64;

inline constexpr std::uint8_t zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

struct BlockUnpacking {
  std::string_view name;
  /// Unpacks `count` blocks from `at` on to 64 coefficients each, in natural order, all of which
  /// are written. Returns the end of the blocks, or null for an invalid head. Reads at most count ·
  /// max_block_bytes + block_slack bytes.
  const std::byte* (*unpack)(const std::byte* at, std::size_t count, std::int16_t* const* blocks);
};

/// Plain C++ for any CPU; the reference for the other.
extern const BlockUnpacking plain_block_unpacking;
/// Needs AVX-512 with VBMI and VBMI2: Ice Lake, Zen 4 and later.
extern const BlockUnpacking avx512_block_unpacking;
/// Those that this CPU can run, the fastest first.
std::span<const BlockUnpacking* const> runnable_block_unpackings();

/// Blocks that follow one another.
struct PackedRun {
  Bytes data;
  std::size_t blocks = 0;
};
/// Runs that first_unsound() checks side by side: it is fastest when given this many at a time.
inline constexpr std::size_t runs_in_turn = 4;
/// The first run that is not exactly its number of whole blocks, so that no BlockUnpacking would
/// unpack it; runs.size() where all runs are sound. Reads nothing outside the runs, except that it may
/// read up to `readable_end` (no run ends behind it) where at least block_slack bytes lie between that
/// and each run, which is faster.
std::size_t first_unsound(std::span<const PackedRun> runs, const std::byte* readable_end);

/// Appends a block, given in natural order.
void pack_block(const std::int16_t* coefficients, Buffer& to);

}  // namespace feedrate::formats
