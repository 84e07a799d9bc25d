// GCC 12 warns about values that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "loader/engine/pixel_values.h"

#include <cpuid.h>
#include <immintrin.h>

#include <cstring>
#include <vector>

#include "loader/pixels/half.h"

#define FEEDRATE_AVX2 __attribute__((target("avx2,f16c")))
#define FEEDRATE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

namespace feedrate::loader {
namespace {

using Half = std::uint16_t;  // as bits

template <class Number>
Number number_of(float value) {
  if constexpr (sizeof(Number) == sizeof(Half)) {
    return half_bits(value);
  } else {
    return value;
  }
}

// From pixel `first` on: the remainder of a vector loop, or all pixels.
template <class Number, std::size_t Channels>
void plain_from(std::size_t first, const std::byte* pixels, std::size_t count,
                const PixelScales& scales, std::byte* to) {
  for (std::size_t c = 0; c < Channels; ++c) {
    std::byte* plane = to + c * count * sizeof(Number);
    for (std::size_t i = first; i < count; ++i) {
      const auto pixel = std::to_integer<std::uint8_t>(pixels[Channels * i + c]);
      const auto number = number_of<Number>(scaled_pixel(pixel, scales[c].scale, scales[c].mean));
      std::memcpy(plane + i * sizeof number, &number, sizeof number);
    }
  }
}

template <class Number, std::size_t Channels>
void plain(const std::byte* pixels, std::size_t count, const PixelScales& scales, std::byte* to) {
  plain_from<Number, Channels>(0, pixels, count, scales, to);
}

constexpr std::size_t step = 16;  // pixels at a time

// Shuffle masks: where each of three registers of interleaved pixels holds a colour; 0x80 gives 0.
struct ColourPlaces {
  std::array<std::array<std::array<std::uint8_t, step>, 3>, 3> at{};  // [colour][register][pixel]
  constexpr ColourPlaces() {
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t part = 0; part < 3; ++part) {
        for (std::size_t i = 0; i < step; ++i) {
          const std::size_t byte = 3 * i + colour;
          at[colour][part][i] =
              byte / step == part ? static_cast<std::uint8_t>(byte % step) : std::uint8_t{0x80};
        }
      }
    }
  }
};
constexpr ColourPlaces places;

FEEDRATE_AVX2 inline __m128i load(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

// 16 pixels of one colour, from three registers of interleaved pixels.
FEEDRATE_AVX2 inline __m128i colour_of(std::size_t colour, const __m128i (&parts)[3]) {
  const auto& at = places.at[colour];
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(parts[0], load(at[0].data())),
                                   _mm_shuffle_epi8(parts[1], load(at[1].data()))),
                      _mm_shuffle_epi8(parts[2], load(at[2].data())));
}

FEEDRATE_AVX2 inline __m256 eight_values(__m128i pixels, const PixelScale& own) {
  const __m256 values = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(pixels));
  return _mm256_mul_ps(_mm256_sub_ps(values, _mm256_set1_ps(own.mean)), _mm256_set1_ps(own.scale));
}

template <class Number>
FEEDRATE_AVX2 inline void store_avx2(__m128i pixels, const PixelScale& own, std::byte* to) {
  const __m256 low = eight_values(pixels, own), high = eight_values(_mm_srli_si128(pixels, 8), own);
  if constexpr (sizeof(Number) == sizeof(Half)) {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(low, nearest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + 1, _mm256_cvtps_ph(high, nearest));
  } else {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), low);
    _mm256_storeu_ps(reinterpret_cast<float*>(to) + 8, high);
  }
}

template <class Number>
FEEDRATE_AVX512 inline void store_avx512(__m128i pixels, const PixelScale& own, std::byte* to) {
  const __m512 values = _mm512_mul_ps(
      _mm512_sub_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(pixels)), _mm512_set1_ps(own.mean)),
      _mm512_set1_ps(own.scale));
  if constexpr (sizeof(Number) == sizeof(Half)) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  } else {
    _mm512_storeu_ps(to, values);
  }
}

// Written twice: a target attribute cannot be a template parameter.
template <class Number, std::size_t Channels>
FEEDRATE_AVX2 void values_avx2(const std::byte* pixels, std::size_t count,
                               const PixelScales& scales, std::byte* to) {
  const std::size_t plane = count * sizeof(Number);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const std::byte* from = pixels + Channels * i;
    std::byte* place = to + i * sizeof(Number);
    if constexpr (Channels == 1) {
      store_avx2<Number>(load(from), scales[0], place);
    } else {
      const __m128i parts[3] = {load(from), load(from + step), load(from + 2 * step)};
      for (std::size_t c = 0; c < Channels; ++c) {
        store_avx2<Number>(colour_of(c, parts), scales[c], place + c * plane);
      }
    }
  }
  plain_from<Number, Channels>(i, pixels, count, scales, to);
}

template <class Number, std::size_t Channels>
FEEDRATE_AVX512 void values_avx512(const std::byte* pixels, std::size_t count,
                                   const PixelScales& scales, std::byte* to) {
  const std::size_t plane = count * sizeof(Number);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const std::byte* from = pixels + Channels * i;
    std::byte* place = to + i * sizeof(Number);
    if constexpr (Channels == 1) {
      store_avx512<Number>(load(from), scales[0], place);
    } else {
      const __m128i parts[3] = {load(from), load(from + step), load(from + 2 * step)};
      for (std::size_t c = 0; c < Channels; ++c) {
        store_avx512<Number>(colour_of(c, parts), scales[c], place + c * plane);
      }
    }
  }
  plain_from<Number, Channels>(i, pixels, count, scales, to);
}

// Clang 14's __builtin_cpu_supports does not know f16c.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

template <class Number, std::size_t Channels>
std::span<const PixelsToValues> runnable() {
  static const auto all = [] {
    std::vector<PixelsToValues> found;
    const bool avx2 = __builtin_cpu_supports("avx2") != 0 && has_f16c();
    if (avx2 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512vl") != 0) {
      found.push_back(values_avx512<Number, Channels>);
    }
    if (avx2) found.push_back(values_avx2<Number, Channels>);
    found.push_back(plain<Number, Channels>);
    return found;
  }();
  return all;
}

}  // namespace

std::span<const PixelsToValues> runnable_value_makers(std::uint32_t channels, PixelType type) {
  if (type == PixelType::f16) return channels == 3 ? runnable<Half, 3>() : runnable<Half, 1>();
  return channels == 3 ? runnable<float, 3>() : runnable<float, 1>();
}

}  // namespace feedrate::loader
