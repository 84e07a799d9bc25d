// GCC 12 warns about values that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "formats/pixels/planes_ways.h"

#define FEEDRATE_AVX2 __attribute__((target("avx2")))
#define FEEDRATE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))

namespace feedrate::formats {
namespace {

// `Width` pixels, each of three colours, fill three registers of `Width` bytes. Since 3 divides no
// power of two, colour c of pixel i is the only one of that colour with the position (3i + c) %
// Width within its register. So one permutation of a colour serves all three registers, each of
// which then selects its own bytes of it.
template <std::size_t Width>
struct Places {
  std::array<std::array<std::uint8_t, Width>, 3> pixel{};  // [colour][byte]
  std::array<std::array<std::uint8_t, Width>, 3> byte{};   // [colour][pixel]
  constexpr Places() {
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t i = 0; i < Width; ++i) {
        const std::size_t place = (3 * i + colour) % Width;
        pixel[colour][place] = static_cast<std::uint8_t>(i);
        byte[colour][i] = static_cast<std::uint8_t>(place);
      }
    }
  }
};

// Bit b is set when byte b of register `part` has that colour.
template <std::size_t Width>
constexpr std::uint64_t bytes_of(std::size_t colour, std::size_t part) {
  std::uint64_t bits = 0;
  for (std::size_t b = 0; b < Width; ++b) {
    if ((part * Width + b) % 3 == colour) bits |= std::uint64_t{1} << b;
  }
  return bits;
}

constexpr std::size_t half = 16;
constexpr Places<half> half_places;

constexpr std::array<std::uint8_t, half> as_mask(std::uint64_t bits) {
  std::array<std::uint8_t, half> mask{};
  for (std::size_t i = 0; i < half; ++i) mask[i] = (bits >> i & 1) != 0 ? 0xFF : 0;
  return mask;
}

FEEDRATE_AVX2 inline __m128i load(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

template <std::size_t Part>
FEEDRATE_AVX2 inline void store_part(__m128i red, __m128i green, __m128i blue, std::byte* pixels) {
  static constexpr auto of_green = as_mask(bytes_of<half>(1, Part));
  static constexpr auto of_blue = as_mask(bytes_of<half>(2, Part));
  const __m128i two = _mm_blendv_epi8(red, green, load(of_green.data()));
  const __m128i all = _mm_blendv_epi8(two, blue, load(of_blue.data()));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels + Part * half), all);
}

}  // namespace

FEEDRATE_AVX2 void interleave_planes_avx2(const std::byte* red, const std::byte* green,
                                          const std::byte* blue, std::size_t count,
                                          std::byte* pixels) {
  std::size_t i = 0;
  for (; i + half <= count; i += half) {
    const __m128i r = _mm_shuffle_epi8(load(red + i), load(half_places.pixel[0].data()));
    const __m128i g = _mm_shuffle_epi8(load(green + i), load(half_places.pixel[1].data()));
    const __m128i b = _mm_shuffle_epi8(load(blue + i), load(half_places.pixel[2].data()));
    store_part<0>(r, g, b, pixels + 3 * i);
    store_part<1>(r, g, b, pixels + 3 * i);
    store_part<2>(r, g, b, pixels + 3 * i);
  }
  plainly_interleave_planes(red + i, green + i, blue + i, count - i, pixels + 3 * i);
}

namespace {

// The bytes of a colour have different places in the three registers, too, so they fit into one.
template <std::size_t Colour>
FEEDRATE_AVX2 inline void store_colour(const __m128i (&parts)[3], std::byte* plane) {
  static constexpr auto of_second = as_mask(bytes_of<half>(Colour, 1));
  static constexpr auto of_third = as_mask(bytes_of<half>(Colour, 2));
  const __m128i two = _mm_blendv_epi8(parts[0], parts[1], load(of_second.data()));
  const __m128i all = _mm_blendv_epi8(two, parts[2], load(of_third.data()));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(plane),
                   _mm_shuffle_epi8(all, load(half_places.byte[Colour].data())));
}

}  // namespace

FEEDRATE_AVX2 void separate_planes_avx2(const std::byte* pixels, std::size_t count, std::byte* red,
                                        std::byte* green, std::byte* blue) {
  std::size_t i = 0;
  for (; i + half <= count; i += half) {
    const std::byte* from = pixels + 3 * i;
    const __m128i parts[3] = {load(from), load(from + half), load(from + 2 * half)};
    store_colour<0>(parts, red + i);
    store_colour<1>(parts, green + i);
    store_colour<2>(parts, blue + i);
  }
  plainly_separate_planes(pixels + 3 * i, count - i, red + i, green + i, blue + i);
}

namespace {

constexpr std::size_t whole = 64;
constexpr Places<whole> whole_places;

template <std::size_t Part>
FEEDRATE_AVX512 inline void store_part(__m512i red, __m512i green, __m512i blue,
                                       std::byte* pixels) {
  const __m512i two = _mm512_mask_blend_epi8(bytes_of<whole>(1, Part), red, green);
  const __m512i all = _mm512_mask_blend_epi8(bytes_of<whole>(2, Part), two, blue);
  _mm512_storeu_si512(pixels + Part * whole, all);
}

FEEDRATE_AVX512 inline __m512i placed(std::size_t colour, const std::byte* plane) {
  return _mm512_permutexvar_epi8(_mm512_loadu_si512(whole_places.pixel[colour].data()),
                                 _mm512_loadu_si512(plane));
}

}  // namespace

FEEDRATE_AVX512 void interleave_planes_avx512(const std::byte* red, const std::byte* green,
                                              const std::byte* blue, std::size_t count,
                                              std::byte* pixels) {
  std::size_t i = 0;
  for (; i + whole <= count; i += whole) {
    const __m512i r = placed(0, red + i), g = placed(1, green + i), b = placed(2, blue + i);
    store_part<0>(r, g, b, pixels + 3 * i);
    store_part<1>(r, g, b, pixels + 3 * i);
    store_part<2>(r, g, b, pixels + 3 * i);
  }
  interleave_planes_avx2(red + i, green + i, blue + i, count - i, pixels + 3 * i);
}

}  // namespace feedrate::formats
