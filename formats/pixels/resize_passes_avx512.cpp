// Weights have 23 bits, but the instruction that multiplies and adds four bytes at once takes 8: a
// weight is d0 + 256 d1 + 65536 d2 with signed digits, and sums of the high digits are shifted up
// before those of the lower ones are added. They may wrap around on the way; the result fits.
//
// Across, sixteen bytes of the new row are computed at a time, whatever pixels and colours they
// belong to. One permutation picks, from 64 bytes of the old row, four source pixels that weigh in
// each of them. For each such group of sixteen bytes and each four weights, ResizeAxis has:
//
//   starts  where the 64 bytes begin
//   table   16 × (4 indices into them) | 16 × (4 digits d2) | 16 × (4 digits d1)
//           | 16 × (4 digits d0)
//
// Down, `table` has d2 | d1 | d0 for each target row and each four weights.

// GCC 12 warns about values that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "formats/pixels/resize_passes.h"

#define FEEDRATE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")))

namespace feedrate::formats {
namespace {

constexpr std::size_t taps = 4;    // weights processed at once
constexpr std::size_t group = 16;  // bytes computed at once, across
constexpr std::size_t window = 64;
constexpr std::size_t max_quads = 3;  // of weights, across; for RGB, the 64 bytes hold no more
constexpr std::size_t group_words = 4 * group;
constexpr std::int32_t half = 1 << (resize_bits - 1 - 16);  // in units of the highest digit

std::size_t quads_of(const ResizeAxis& axis) { return (axis.max_count + taps - 1) / taps; }

using Digits = std::array<std::uint32_t, 3>;  // four of each, highest first

Digits digits_of(const std::int32_t* weights) {
  Digits digits{};
  for (std::size_t i = 0; i < taps; ++i) {
    std::int32_t rest = weights[i];
    for (std::size_t digit = 3; digit-- > 0;) {
      const auto low = static_cast<std::int8_t>(rest);
      digits[digit] |= std::uint32_t{static_cast<std::uint8_t>(low)} << (8 * i);
      rest = (rest - low) >> 8;
    }
  }
  return digits;
}

// The source bytes of a target pixel's weights from `quad` on.
struct Window {
  std::size_t begin;
  std::size_t end;
};
Window window_of(const ResizeAxis& axis, std::size_t channels, std::size_t x, std::size_t quad) {
  const std::size_t first = axis.first[x] + taps * quad;
  const std::size_t end = std::min<std::size_t>(first + taps, axis.first[x] + axis.count[x]);
  return {first * channels, std::max(first, end) * channels};
}

// Fills the group's row of the table for one quad. False when its pixels are too far apart.
bool fill(ResizeAxis& axis, std::size_t channels, std::size_t begin, std::size_t quad,
          std::uint32_t& start, std::uint32_t* row) {
  const std::size_t end = std::min(begin + group, axis.to * channels);
  std::size_t lowest = axis.from * channels - window, highest = 0;
  for (std::size_t x = begin / channels; x * channels < end; ++x) {
    const Window pixels = window_of(axis, channels, x, quad);
    if (pixels.begin >= pixels.end) continue;
    lowest = std::min(lowest, pixels.begin);
    highest = std::max(highest, pixels.end);
  }
  start = static_cast<std::uint32_t>(lowest);
  if (highest > lowest + window) return false;
  Digits digits{};
  std::uint32_t indices = 0;
  for (std::size_t at = begin; at < end; ++at) {
    const std::size_t x = at / channels, channel = at % channels;
    if (at == begin || channel == 0) {
      const Window pixels = window_of(axis, channels, x, quad);
      digits = digits_of(axis.weights.data() + x * axis.stride + taps * quad);
      indices = 0;
      for (std::size_t i = 0; pixels.begin + i * channels < pixels.end; ++i) {
        indices |= static_cast<std::uint32_t>(pixels.begin + i * channels - lowest) << (8 * i);
      }
    }
    const std::size_t i = at - begin;
    // Missing weights have zero digits: any index below 64 will do.
    row[i] = indices + static_cast<std::uint32_t>(channel) * 0x01010101U;
    for (std::size_t digit = 0; digit < 3; ++digit) row[(digit + 1) * group + i] = digits[digit];
  }
  return true;
}

bool fill_across(ResizeAxis& axis, std::size_t channels) {
  const std::size_t quads = quads_of(axis);
  if (quads > max_quads || axis.from * channels < window) return false;
  const std::size_t groups = (axis.to * channels + group - 1) / group;
  axis.starts.resize(groups * quads);
  axis.table.assign(groups * quads * group_words, 0);
  for (std::size_t i = 0; i < groups * quads; ++i) {
    if (!fill(axis, channels, i / quads * group, i % quads, axis.starts[i],
              axis.table.data() + i * group_words)) {
      return false;
    }
  }
  return true;
}

void prepare_across(ResizeAxis& axis, std::size_t channels) {
  if (axis.prepared == channels) return;
  axis.prepared = 0;
  if (!fill_across(axis, channels)) {
    axis.table.clear();
    avx2_resize_passes.prepare_across(axis, channels);
  }
  axis.prepared = channels;
}

void prepare_down(ResizeAxis& axis) {
  if (axis.prepared != 0) return;
  avx2_resize_passes.prepare_down(axis);  // for rows shorter than a register
  const std::size_t quads = quads_of(axis);
  axis.table.resize(axis.to * quads * 3);
  for (std::size_t i = 0; i < axis.to * quads; ++i) {
    const std::int32_t* weights = axis.weights.data() + i / quads * axis.stride + i % quads * taps;
    const Digits digits = digits_of(weights);
    std::copy(digits.begin(), digits.end(), axis.table.begin() + static_cast<long>(3 * i));
  }
}

FEEDRATE_AVX512 inline __m512i load(const void* at) { return _mm512_loadu_si512(at); }

template <std::size_t Quads>
FEEDRATE_AVX512 inline __m128i make_group(const std::byte* from, const std::uint32_t* starts,
                                          const std::uint32_t* table) {
  __m512i pixels[Quads];
  __m512i sum = _mm512_set1_epi32(half);
  for (std::size_t q = 0; q < Quads; ++q) {
    const std::uint32_t* row = table + q * group_words;
    pixels[q] = _mm512_permutexvar_epi8(load(row), load(from + starts[q]));
    sum = _mm512_dpbusd_epi32(sum, pixels[q], load(row + group));
  }
  for (std::size_t digit = 2; digit < 4; ++digit) {
    sum = _mm512_slli_epi32(sum, 8);
    for (std::size_t q = 0; q < Quads; ++q) {
      const std::uint32_t* row = table + q * group_words;
      sum = _mm512_dpbusd_epi32(sum, pixels[q], load(row + digit * group));
    }
  }
  const __m512i pixel = _mm512_srai_epi32(sum, resize_bits);
  return _mm512_cvtusepi32_epi8(_mm512_max_epi32(pixel, _mm512_setzero_si512()));
}

template <std::size_t Quads>
FEEDRATE_AVX512 void across_row(const ResizeAxis& axis, std::size_t channels, const std::byte* from,
                                std::byte* to) {
  const std::size_t bytes = axis.to * channels;
  const std::uint32_t* starts = axis.starts.data();
  const std::uint32_t* table = axis.table.data();
  std::size_t at = 0;
  for (; at + group <= bytes; at += group) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), make_group<Quads>(from, starts, table));
    starts += Quads;
    table += Quads * group_words;
  }
  if (at == bytes) return;
  std::byte rest[group];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), make_group<Quads>(from, starts, table));
  std::memcpy(to + at, rest, bytes - at);
}

void across(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
            std::array<std::byte*, 2> to) {
  if (axis.table.empty()) {
    avx2_resize_passes.across(axis, channels, from, to);
    return;
  }
  constexpr decltype(&across_row<1>) rows[max_quads] = {across_row<1>, across_row<2>,
                                                        across_row<3>};
  const auto make = rows[quads_of(axis) - 1];
  make(axis, channels, from[0], to[0]);
  if (to[0] != to[1]) make(axis, channels, from[1], to[1]);
}

struct Quarters {
  __m512i sums[4];  // bytes 0-3 of each 16, 4-7, 8-11, 12-15
};

FEEDRATE_AVX512 inline Quarters side_by_side(const std::byte* const* rows, std::size_t at) {
  const __m512i a = load(rows[0] + at), b = load(rows[1] + at);
  const __m512i c = load(rows[2] + at), d = load(rows[3] + at);
  const __m512i low_ab = _mm512_unpacklo_epi8(a, b), high_ab = _mm512_unpackhi_epi8(a, b);
  const __m512i low_cd = _mm512_unpacklo_epi8(c, d), high_cd = _mm512_unpackhi_epi8(c, d);
  return {{_mm512_unpacklo_epi16(low_ab, low_cd), _mm512_unpackhi_epi16(low_ab, low_cd),
           _mm512_unpacklo_epi16(high_ab, high_cd), _mm512_unpackhi_epi16(high_ab, high_cd)}};
}

// Sums of the digits of 16 bytes. Not in arrays, which GCC keeps in memory.
struct DigitSums {
  __m512i high, middle, low;
};

FEEDRATE_AVX512 inline DigitSums no_sums() {
  return {_mm512_set1_epi32(half), _mm512_setzero_si512(), _mm512_setzero_si512()};
}

FEEDRATE_AVX512 inline void add(DigitSums& to, __m512i pixels, const DigitSums& digits) {
  to.high = _mm512_dpbusd_epi32(to.high, pixels, digits.high);
  to.middle = _mm512_dpbusd_epi32(to.middle, pixels, digits.middle);
  to.low = _mm512_dpbusd_epi32(to.low, pixels, digits.low);
}

FEEDRATE_AVX512 inline __m512i whole(const DigitSums& sums) {
  const __m512i upper =
      _mm512_add_epi32(_mm512_slli_epi32(sums.high, 16), _mm512_slli_epi32(sums.middle, 8));
  return _mm512_srai_epi32(_mm512_add_epi32(upper, sums.low), resize_bits);
}

FEEDRATE_AVX512 inline void down_block(const std::uint32_t* table, std::size_t quads,
                                       const std::byte* const* rows, std::size_t at,
                                       std::byte* to) {
  DigitSums first = no_sums(), second = first, third = first, fourth = first;
  for (std::size_t q = 0; q < quads; ++q) {
    const Quarters pixels = side_by_side(rows + taps * q, at);
    const auto digit = [&](std::size_t d) FEEDRATE_AVX512 {
      return _mm512_set1_epi32(static_cast<int>(table[3 * q + d]));
    };
    const DigitSums digits{digit(0), digit(1), digit(2)};
    add(first, pixels.sums[0], digits);
    add(second, pixels.sums[1], digits);
    add(third, pixels.sums[2], digits);
    add(fourth, pixels.sums[3], digits);
  }
  const __m512i bytes = _mm512_packus_epi16(_mm512_packus_epi32(whole(first), whole(second)),
                                            _mm512_packus_epi32(whole(third), whole(fourth)));
  _mm512_storeu_si512(to + at, bytes);
}

FEEDRATE_AVX512 void down(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
                          std::size_t bytes, std::byte* to) {
  constexpr std::size_t block = 64;
  if (bytes < block) {
    avx2_resize_passes.down(axis, target, rows, bytes, to);
    return;
  }
  const std::size_t quads = quads_of(axis);
  const std::uint32_t* table = axis.table.data() + target * quads * 3;
  // Stop at this row's own weights; the digits of the others are zero.
  const std::size_t needed = (axis.count[target] + taps - 1) / taps;
  std::size_t at = 0;
  for (; at + block <= bytes; at += block) down_block(table, needed, rows, at, to);
  if (at != bytes) down_block(table, needed, rows, bytes - block, to);
}

}  // namespace

const ResizePasses avx512_resize_passes = {"AVX-512", prepare_across, prepare_down, across, down};

}  // namespace feedrate::formats
