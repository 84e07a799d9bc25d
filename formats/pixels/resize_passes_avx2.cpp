// Weights have 23 bits, but the instruction that multiplies and adds pairs takes 16: sums of the
// low and the high halves are computed separately and combined at the end. They may wrap around;
// the final result fits, so modular arithmetic gives the right value.

#include <immintrin.h>

#include <cstring>

#include "formats/pixels/resize_passes.h"

#define FEEDRATE_AVX2 __attribute__((target("avx2")))

namespace feedrate::formats {
namespace {

constexpr int low_bits = 15;  // of a weight, in `low`; the rest are in `high`

struct Sums {
  __m256i low, high;
};

FEEDRATE_AVX2 inline __m256i zero() { return _mm256_setzero_si256(); }

FEEDRATE_AVX2 inline void add_products(Sums& sums, __m256i pairs, __m256i low, __m256i high) {
  sums.low = _mm256_add_epi32(sums.low, _mm256_madd_epi16(pairs, low));
  sums.high = _mm256_add_epi32(sums.high, _mm256_madd_epi16(pairs, high));
}

FEEDRATE_AVX2 inline __m256i rounded(const Sums& sums) {
  const __m256i half = _mm256_set1_epi32(1 << (resize_bits - 1));
  const __m256i whole = _mm256_add_epi32(_mm256_slli_epi32(sums.high, low_bits), sums.low);
  return _mm256_srai_epi32(_mm256_add_epi32(whole, half), resize_bits);
}

void prepare(ResizeAxis& axis, std::size_t) {
  if (axis.prepared != 0) return;
  axis.prepared = 1;
  axis.low.resize(axis.weights.size());
  axis.high.resize(axis.weights.size());
  for (std::size_t i = 0; i < axis.weights.size(); ++i) {
    axis.low[i] = static_cast<std::int16_t>(axis.weights[i] & ((1 << low_bits) - 1));
    axis.high[i] = static_cast<std::int16_t>(axis.weights[i] >> low_bits);
  }
}

void prepare_down(ResizeAxis& axis) { prepare(axis, 1); }

// Repeats the two neighbours at `weights` in all places.
FEEDRATE_AVX2 inline __m256i pair_of(const std::int16_t* weights) {
  std::int32_t both;
  std::memcpy(&both, weights, sizeof both);
  return _mm256_set1_epi32(both);
}

// Puts eight weights into each half of the register.
FEEDRATE_AVX2 inline __m256i eight_of(const std::int16_t* weights) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
}

// Eight bytes of each row, one row in each half of the register.
FEEDRATE_AVX2 inline __m256i eight_bytes(std::array<const std::byte*, 2> from, std::size_t at) {
  return _mm256_set_m128i(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from[1] + at)),
                          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from[0] + at)));
}

// Computes a pixel in plain C++: vector loads for the last ones would reach beyond the row.
void plain_pixel(const ResizeAxis& axis, std::size_t x, std::size_t channels, const std::byte* from,
                 std::byte* to) {
  const std::int32_t* weights = axis.weights.data() + x * axis.stride;
  for (std::size_t c = 0; c < channels; ++c) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < axis.count[x]; ++i) {
      sum += std::to_integer<std::int32_t>(from[channels * (axis.first[x] + i) + c]) * weights[i];
    }
    to[channels * x + c] = std::byte{resized_pixel(sum)};
  }
}

// Turns two source pixels at a time into three pairs: both reds, both greens, both blues.
FEEDRATE_AVX2 void across_rgb(const ResizeAxis& axis, std::array<const std::byte*, 2> from,
                              std::array<std::byte*, 2> to) {
  const __m256i to_pairs = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  for (std::size_t x = 0; x < axis.to; ++x) {
    const std::size_t count = axis.count[x] + axis.count[x] % 2;
    if (axis.first[x] + count >= axis.from) {  // the last load reads two bytes more
      for (std::size_t row = 0; row < 2; ++row) plain_pixel(axis, x, 3, from[row], to[row]);
      continue;
    }
    const std::int16_t* low = axis.low.data() + x * axis.stride;
    const std::int16_t* high = axis.high.data() + x * axis.stride;
    Sums sums{zero(), zero()};
    for (std::size_t i = 0; i < count; i += 2) {
      const __m256i pixels = eight_bytes(from, 3 * (axis.first[x] + i));
      add_products(sums, _mm256_shuffle_epi8(pixels, to_pairs), pair_of(low + i),
                   pair_of(high + i));
    }
    const __m256i words = _mm256_packs_epi32(rounded(sums), zero());
    const __m256i bytes = _mm256_packus_epi16(words, zero());
    const std::array<int, 2> rgb{_mm256_extract_epi32(bytes, 0), _mm256_extract_epi32(bytes, 4)};
    if (x + 1 == axis.to) {
      for (std::size_t row = 0; row < 2; ++row) std::memcpy(to[row] + 3 * x, &rgb[row], 3);
    } else {  // the fourth byte written is overwritten by the next pixel
      for (std::size_t row = 0; row < 2; ++row) std::memcpy(to[row] + 3 * x, &rgb[row], 4);
    }
  }
}

FEEDRATE_AVX2 void across_grey(const ResizeAxis& axis, std::array<const std::byte*, 2> from,
                               std::array<std::byte*, 2> to) {
  for (std::size_t x = 0; x < axis.to; ++x) {
    if (axis.first[x] + (axis.count[x] + 7) / 8 * 8 > axis.from) {
      for (std::size_t row = 0; row < 2; ++row) plain_pixel(axis, x, 1, from[row], to[row]);
      continue;
    }
    const std::int16_t* low = axis.low.data() + x * axis.stride;
    const std::int16_t* high = axis.high.data() + x * axis.stride;
    Sums sums{zero(), zero()};
    for (std::size_t i = 0; i < axis.count[x]; i += 8) {
      const __m256i pixels = _mm256_unpacklo_epi8(eight_bytes(from, axis.first[x] + i), zero());
      add_products(sums, pixels, eight_of(low + i), eight_of(high + i));
    }
    // There are four partial sums for each row; adding neighbours twice puts the total in all
    // places.
    sums.low = _mm256_hadd_epi32(sums.low, sums.low);
    sums.low = _mm256_hadd_epi32(sums.low, sums.low);
    sums.high = _mm256_hadd_epi32(sums.high, sums.high);
    sums.high = _mm256_hadd_epi32(sums.high, sums.high);
    const __m256i words = _mm256_packs_epi32(rounded(sums), zero());
    const __m256i bytes = _mm256_packus_epi16(words, zero());
    to[0][x] = static_cast<std::byte>(_mm256_extract_epi8(bytes, 0));
    to[1][x] = static_cast<std::byte>(_mm256_extract_epi8(bytes, 16));
  }
}

void across(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
            std::array<std::byte*, 2> to) {
  if (channels == 1) {
    across_grey(axis, from, to);
  } else {
    across_rgb(axis, from, to);
  }
}

constexpr std::size_t block = 16;  // bytes of a row

// Rows in pairs: interleaved bytes of two rows are the operand of one multiplication.
FEEDRATE_AVX2 inline void down_block(const std::int16_t* low, const std::int16_t* high,
                                     std::size_t count, const std::byte* const* rows,
                                     std::size_t at, std::byte* to) {
  Sums left{zero(), zero()}, right{zero(), zero()};
  for (std::size_t i = 0; i < count; i += 2) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + at));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i + 1] + at));
    const __m256i low_pair = pair_of(low + i), high_pair = pair_of(high + i);
    add_products(left, _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), low_pair, high_pair);
    add_products(right, _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), low_pair, high_pair);
  }
  // Packing works on each half of a register: 0-3 8-11 | 4-7 12-15.
  const __m256i words = _mm256_packs_epi32(rounded(left), rounded(right));
  const __m256i bytes = _mm256_packus_epi16(words, words);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(to + at),
      _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}

FEEDRATE_AVX2 void down(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
                        std::size_t bytes, std::byte* to) {
  if (bytes < block) {
    plain_resize_passes.down(axis, target, rows, bytes, to);
    return;
  }
  const std::int16_t* low = axis.low.data() + target * axis.stride;
  const std::int16_t* high = axis.high.data() + target * axis.stride;
  const std::size_t count = axis.count[target];
  for (std::size_t at = 0; at + block <= bytes; at += block) {
    down_block(low, high, count, rows, at, to);
  }
  if (bytes % block != 0) down_block(low, high, count, rows, bytes - block, to);
}

}  // namespace

const ResizePasses avx2_resize_passes = {"AVX2", prepare, prepare_down, across, down};

}  // namespace feedrate::formats
