// Four sums in a register, by GCC's vectors: as NEON multiplies, with all 23 bits of a weight.

#include <algorithm>

#include "formats/base/lanes.hpp"
#include "formats/pixels/resize_passes.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t four = 4;
using Sums = std::int32_t __attribute__((vector_size(lanes)));
using Words = std::uint16_t __attribute__((vector_size(lanes)));

// Interleaving with zeros is one instruction, which GCC 12 makes of this, but not of a conversion.
inline Words eight_bytes(const std::byte* at) {
  const auto bytes = reinterpret_cast<Lanes>(LaneSums{load_le<std::uint64_t>(at), 0});
  return reinterpret_cast<Words>(__builtin_shufflevector(bytes, Lanes{}, 0, 16, 1, 17, 2, 18, 3, 19,
                                                         4, 20, 5, 21, 6, 22, 7, 23));
}
inline Sums low_four(Words words) {
  return reinterpret_cast<Sums>(__builtin_shufflevector(words, Words{}, 0, 8, 1, 9, 2, 10, 3, 11));
}
inline Sums high_four(Words words) {
  return reinterpret_cast<Sums>(
      __builtin_shufflevector(words, Words{}, 4, 12, 5, 13, 6, 14, 7, 15));
}

inline Sums half() { return Sums{} + (1 << (resize_bits - 1)); }

inline Words rounded(Sums sums) {  // each in the lower half of 32 bits
  const Sums whole = sums >> resize_bits;
  const Sums positive = whole > 0 ? whole : 0;
  return reinterpret_cast<Words>(positive < 255 ? positive : 255);
}
inline std::uint64_t eight_pixels(Sums low, Sums high) {
  const auto words = reinterpret_cast<Lanes>(
      __builtin_shufflevector(rounded(low), rounded(high), 0, 2, 4, 6, 8, 10, 12, 14));
  return reinterpret_cast<LaneSums>(__builtin_shufflevector(words, words, 0, 2, 4, 6, 8, 10, 12, 14,
                                                            0, 2, 4, 6, 8, 10, 12, 14))[0];
}

void plain_pixel(const ResizeAxis& axis, std::size_t x, const std::byte* from, std::byte* to) {
  const std::int32_t* weights = axis.weights.data() + x * axis.stride;
  for (std::size_t c = 0; c < 3; ++c) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < axis.count[x]; ++i) {
      sum += std::to_integer<std::int32_t>(from[3 * (axis.first[x] + i) + c]) * weights[i];
    }
    to[3 * x + c] = std::byte{resized_pixel(sum)};
  }
}

// Two source pixels, of which each sum gets one, with a fourth colour that nobody needs.
inline void add_pixels(Sums& even, Sums& odd, const std::byte* from, const std::int32_t* weights) {
  const Words both = eight_bytes(from);
  even += low_four(both) * weights[0];
  odd += low_four(__builtin_shufflevector(both, both, 3, 4, 5, 6, 7, 0, 1, 2)) * weights[1];
}

void across_rgb(const ResizeAxis& axis, std::array<const std::byte*, 2> from,
                std::array<std::byte*, 2> to) {
  for (std::size_t x = 0; x < axis.to; ++x) {
    const std::size_t first = axis.first[x], count = round_up(axis.count[x], 2);
    // The last eight bytes read, and the four written, would reach beyond the row.
    if (first + count >= axis.from || x + 1 == axis.to) {
      for (std::size_t row = 0; row < 2; ++row) plain_pixel(axis, x, from[row], to[row]);
      continue;
    }
    const std::int32_t* weights = axis.weights.data() + x * axis.stride;
    const std::byte *upper = from[0] + 3 * first, *lower = from[1] + 3 * first;
    Sums sums[2][2] = {{half(), Sums{}}, {half(), Sums{}}};
    for (std::size_t i = 0; i < count; i += 2) {
      add_pixels(sums[0][0], sums[0][1], upper + 3 * i, weights + i);
      add_pixels(sums[1][0], sums[1][1], lower + 3 * i, weights + i);
    }
    const std::uint64_t both = eight_pixels(sums[0][0] + sums[0][1], sums[1][0] + sums[1][1]);
    const std::uint64_t second = both >> 32;
    std::memcpy(to[0] + 3 * x, &both, four);
    std::memcpy(to[1] + 3 * x, &second, four);
  }
}

void across(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
            std::array<std::byte*, 2> to) {
  if (channels == 3) {
    across_rgb(axis, from, to);
  } else {
    plain_resize_passes.across(axis, channels, from, to);
  }
}

constexpr std::size_t block = 2 * lanes;  // bytes of a row, whose sums stay in registers

inline void add_products(Sums* sums, const std::byte* from, std::int32_t weight) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Words words = eight_bytes(from + 8 * i);
    sums[2 * i] += low_four(words) * weight;
    sums[2 * i + 1] += high_four(words) * weight;
  }
}

void down_block(const std::int32_t* weights, std::size_t count, const std::byte* const* rows,
                std::size_t at, std::byte* to) {
  Sums sums[8] = {half(), half(), half(), half(), half(), half(), half(), half()};
  for (std::size_t i = 0; i < count; ++i) add_products(sums, rows[i] + at, weights[i]);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t pixels = eight_pixels(sums[2 * i], sums[2 * i + 1]);
    std::memcpy(to + at + 8 * i, &pixels, sizeof pixels);
  }
}

void down(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
          std::size_t bytes, std::byte* to) {
  if (bytes < block) {
    plain_resize_passes.down(axis, target, rows, bytes, to);
    return;
  }
  const std::int32_t* weights = axis.weights.data() + target * axis.stride;
  const std::size_t count = axis.count[target];
  for (std::size_t at = 0; at + block <= bytes; at += block) {
    down_block(weights, count, rows, at, to);
  }
  if (bytes % block != 0) down_block(weights, count, rows, bytes - block, to);
}

void prepare_across(ResizeAxis&, std::size_t) {}
void prepare_down(ResizeAxis&) {}

}  // namespace

const ResizePasses lanes_resize_passes = {"lanes", prepare_across, prepare_down, across, down};

}  // namespace feedrate::formats
