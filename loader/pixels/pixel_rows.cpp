#include "loader/pixels/pixel_rows.h"

#include <tmmintrin.h>

#include <algorithm>

#define FEEDRATE_SSSE3 __attribute__((target("ssse3")))

namespace feedrate::loader {
namespace {

// ITU-R 601-2 luma, in Pillow's integers.
std::byte grey_of(const std::byte* pixel) {
  const auto part = [pixel](std::size_t c, unsigned weight) {
    return std::to_integer<unsigned>(pixel[c]) * weight;
  };
  return static_cast<std::byte>((part(0, 19595) + part(1, 38470) + part(2, 7471) + 0x8000) >> 16);
}

template <std::size_t Stored, std::size_t Wanted, bool Mirrored>
void plain(const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* pixel = from + Stored * (Mirrored ? count - 1 - i : i);
    if constexpr (Stored > Wanted) {
      to[i] = grey_of(pixel);
    } else {
      for (std::size_t c = 0; c < Wanted; ++c) to[Wanted * i + c] = pixel[Stored == 1 ? 0 : c];
    }
  }
}

template <std::size_t Channels>
void copy(const std::byte* from, std::size_t count, std::byte* to) {
  std::copy_n(from, Channels * count, to);
}

FEEDRATE_SSSE3 inline __m128i load(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
FEEDRATE_SSSE3 inline void store(std::byte* at, __m128i bytes) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), bytes);
}

// Five pixels at a time, from the end of the row: the last 15 of 16 bytes loaded. The sixteenth
// byte stored is overwritten by the next five pixels.
FEEDRATE_SSSE3 void mirror_rgb(const std::byte* from, std::size_t count, std::byte* to) {
  const __m128i reversed = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
  std::size_t remaining = count;
  for (; remaining >= 6; remaining -= 5, to += 15) {
    store(to, _mm_shuffle_epi8(load(from + 3 * remaining - 16), reversed));
  }
  plain<3, 3, true>(from, remaining, to);
}

FEEDRATE_SSSE3 void spread_grey(const std::byte* from, std::size_t count, std::byte* to) {
  const __m128i first = _mm_setr_epi8(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5);
  const __m128i second = _mm_setr_epi8(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10);
  const __m128i third =
      _mm_setr_epi8(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16, to += 48) {
    const __m128i grey = load(from + i);
    store(to, _mm_shuffle_epi8(grey, first));
    store(to + 16, _mm_shuffle_epi8(grey, second));
    store(to + 32, _mm_shuffle_epi8(grey, third));
  }
  plain<1, 3, false>(from + i, count - i, to);
}

}  // namespace

CopyPixels plain_pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored) {
  if (stored > wanted) return mirrored ? plain<3, 1, true> : plain<3, 1, false>;
  if (stored == 3) return mirrored ? plain<3, 3, true> : plain<3, 3, false>;
  if (wanted == 3) return mirrored ? plain<1, 3, true> : plain<1, 3, false>;
  return mirrored ? plain<1, 1, true> : plain<1, 1, false>;
}

CopyPixels pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored) {
  if (stored == wanted && !mirrored) return stored == 3 ? copy<3> : copy<1>;
  static const bool vector = __builtin_cpu_supports("ssse3") != 0;
  if (vector && stored == 3 && wanted == 3) return mirror_rgb;
  if (vector && wanted == 3 && !mirrored) return spread_grey;
  return plain_pixel_copier(stored, wanted, mirrored);
}

}  // namespace feedrate::loader
