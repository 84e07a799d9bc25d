// Unpacks a block at a time in one register of 64 bytes. VBMI2's expansion of bytes puts densely
// stored values where a mask has its ones: first the values that follow among the nibbles, then all
// of them into the zigzag, which one permutation turns into natural order.

// GCC 12 warns about values that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <array>

#include "formats/codecs/packed/packed_blocks.h"
#include "formats/codecs/packed/packed_head.h"

#define FEEDRATE_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

namespace feedrate::formats {
namespace {

// Position in the zigzag of each coefficient in natural order.
constexpr auto natural_from = [] {
  std::array<std::uint8_t, 64> from{};
  for (std::uint8_t i = 0; i < 64; ++i) from[zigzag[i]] = i;
  return from;
}();

FEEDRATE_AVX512 void store(std::int16_t* block, __m512i low, __m512i high) {
  _mm512_storeu_si512(block, low);
  _mm512_storeu_si512(block + 32, high);
}

FEEDRATE_AVX512 __m512i paired(__m256i low, __m256i high) {
  return _mm512_or_si512(_mm512_cvtepu8_epi16(low),
                         _mm512_slli_epi16(_mm512_cvtepu8_epi16(high), 8));
}

FEEDRATE_AVX512 void store_wide(std::int16_t* block, __m512i low, __m512i high) {
  store(block, paired(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high)),
        paired(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1)));
}

FEEDRATE_AVX512 const std::byte* unpack(const std::byte* at, std::size_t count,
                                        std::int16_t* const* blocks) {
  const __m512i order = _mm512_loadu_si512(natural_from.data());
  const __m512i eight = _mm512_set1_epi8(8);
  const __m512i lower_four = _mm512_set1_epi8(15);
  for (std::size_t i = 0; i < count; ++i) {
    std::int16_t* block = blocks[i];
    const BlockHead head(*at);
    if (!head.sound()) return nullptr;
    const std::int16_t mean = head.mean(at + 1);
    at += 1 + head.mean_bytes();
    const std::uint64_t which = _bzhi_u64(load_le<std::uint64_t>(at), 8 * head.which_bytes());
    if (which >> 63 != 0) return nullptr;
    at += head.which_bytes();
    const auto nonzero = static_cast<unsigned>(_mm_popcnt_u64(which));

    const __m512i pairs =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    at += (nonzero + 1) / 2;
    const __m512i nibbles =
        _mm512_and_si512(_mm512_or_si512(pairs, _mm512_slli_epi16(pairs, 4)), lower_four);
    __m512i low = _mm512_sub_epi8(_mm512_xor_si512(nibbles, eight), eight);
    const __mmask64 in_zigzag = which << 1;
    const __mmask64 follow = _bzhi_u64(_mm512_testn_epi8_mask(nibbles, nibbles), nonzero);
    const auto followed = static_cast<std::size_t>(_mm_popcnt_u64(follow));
    if (head.wide()) {
      __m512i high = _mm512_movm_epi8(_mm512_movepi8_mask(low));
      low = _mm512_mask_expand_epi8(low, follow, _mm512_loadu_si512(at));
      at += followed;
      high = _mm512_mask_expand_epi8(high, follow, _mm512_loadu_si512(at));
      store_wide(block, _mm512_permutexvar_epi8(order, _mm512_maskz_expand_epi8(in_zigzag, low)),
                 _mm512_permutexvar_epi8(order, _mm512_maskz_expand_epi8(in_zigzag, high)));
    } else {
      low = _mm512_mask_expand_epi8(low, follow, _mm512_loadu_si512(at));
      const __m512i all = _mm512_permutexvar_epi8(order, _mm512_maskz_expand_epi8(in_zigzag, low));
      store(block, _mm512_cvtepi8_epi16(_mm512_castsi512_si256(all)),
            _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(all, 1)));
    }
    at += followed;
    block[0] = mean;
  }
  return at;
}

}  // namespace

const BlockUnpacking avx512_block_unpacking = {"avx512", unpack};

}  // namespace feedrate::formats
