// Both coefficients of a lookup at once, each in a half of a register.

#include <immintrin.h>

#include <cstddef>
#include <limits>

#define FEEDRATE_HUFFMAN_TARGET __attribute__((target("avx2,bmi2")))

#include "formats/codecs/jpeg/jpeg_huffman_two.h"

namespace feedrate::formats {
namespace {

static_assert(offsetof(AcLookup, begin1) == 1 && offsetof(AcLookup, unused1) == 2 &&
              offsetof(AcLookup, begin2) == 4 && offsetof(AcLookup, unused2) == 5);

struct AtOnce {
  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE static void store(std::uint64_t bits,
                                                            const AcLookup& found, unsigned at,
                                                            std::int16_t* to) {
    const auto byte_of_each = [](char first, char second) FEEDRATE_HUFFMAN_TARGET {
      return _mm_set_epi64x(std::int64_t{-256} | second, std::int64_t{-256} | first);
    };
    const __m128i fields = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&found));
    const __m128i begin = _mm_shuffle_epi8(fields, byte_of_each(1, 4));
    const __m128i unused = _mm_shuffle_epi8(fields, byte_of_each(2, 5));
    const __m128i from = _mm_sllv_epi64(_mm_set1_epi64x(static_cast<std::int64_t>(bits)), begin);
    const __m128i positive = _mm_cmpgt_epi64(_mm_setzero_si128(), from);
    // What inverting the bits and the sign comes to: a one in each bit is subtracted.
    const __m128i ones =
        _mm_andnot_si128(positive, _mm_set1_epi64x(std::numeric_limits<std::int64_t>::max()));
    const __m128i values = _mm_sub_epi64(_mm_srlv_epi64(_mm_srli_epi64(from, 1), unused),
                                         _mm_srlv_epi64(ones, unused));
    const std::uint8_t* order = &natural_order[at];
    to[order[found.zeros2]] = static_cast<std::int16_t>(_mm_extract_epi16(values, 4));
    to[order[found.zeros1]] = static_cast<std::int16_t>(_mm_extract_epi16(values, 0));
  }
};

FEEDRATE_HUFFMAN_TARGET bool read(std::span<const HuffmanBlock> mcu, ScanBits& bits,
                                  std::int16_t* const* to) {
  return read_mcu<AtOnce>(mcu, bits, to);
}

FEEDRATE_HUFFMAN_TARGET bool skip(std::span<const HuffmanBlock> mcu, ScanBits& bits) {
  return skip_mcu<AtOnce>(mcu, bits);
}

FEEDRATE_HUFFMAN_TARGET bool read_two(HuffmanRun& one, HuffmanRun& other) {
  return read_two_runs<AtOnce>(one, other);
}

}  // namespace

const HuffmanDecoding avx2_huffman_decoding = {"avx2", read, skip, read_two};

}  // namespace feedrate::formats
