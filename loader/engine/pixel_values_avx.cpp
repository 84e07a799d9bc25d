// GCC 12 warns about values that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include "loader/engine/pixel_values_ways.h"

#define FEEDRATE_AVX2 __attribute__((target("avx2,f16c")))
#define FEEDRATE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

namespace feedrate::loader {
namespace {

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

// Means and factors of the eight values in a register, by their channels.
struct EightFactors {
  __m256 mean, factor;
  bool divides;
};

FEEDRATE_AVX2 inline EightFactors eight_factors(const PixelFormula& formula, std::size_t channel) {
  const float factor =
      formula.divides() ? formula.deviations[channel] : formula.scales[channel].scale;
  return {_mm256_set1_ps(formula.scales[channel].mean), _mm256_set1_ps(factor), formula.divides()};
}

// Eight values of interleaved channels, the first of which is in channel `first`.
FEEDRATE_AVX2 inline EightFactors eight_factors_from(const PixelFormula& formula,
                                                     std::size_t first) {
  float mean[8], factor[8];
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t channel = (first + i) % 3;
    mean[i] = formula.scales[channel].mean;
    factor[i] = formula.divides() ? formula.deviations[channel] : formula.scales[channel].scale;
  }
  return {_mm256_loadu_ps(mean), _mm256_loadu_ps(factor), formula.divides()};
}

// The lower eight pixels.
template <class Number>
FEEDRATE_AVX2 inline void store_eight(__m128i pixels, const EightFactors& own, std::byte* to) {
  const __m256 difference =
      _mm256_sub_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(pixels)), own.mean);
  const __m256 values =
      own.divides ? _mm256_div_ps(difference, own.factor) : _mm256_mul_ps(difference, own.factor);
  if constexpr (std::is_same_v<Number, Half>) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  } else {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), values);
  }
}

template <class Number>
FEEDRATE_AVX2 inline void store_avx2(__m128i pixels, const EightFactors& own, std::byte* to) {
  store_eight<Number>(pixels, own, to);
  store_eight<Number>(_mm_srli_si128(pixels, 8), own, to + 8 * sizeof(Number));
}

template <class Number>
FEEDRATE_AVX512 inline void store_avx512(__m128i pixels, const PixelScale& own, float deviation,
                                         std::byte* to) {
  const __m512 difference =
      _mm512_sub_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(pixels)), _mm512_set1_ps(own.mean));
  const __m512 values = deviation != 0 ? _mm512_div_ps(difference, _mm512_set1_ps(deviation))
                                       : _mm512_mul_ps(difference, _mm512_set1_ps(own.scale));
  if constexpr (std::is_same_v<Number, Half>) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  } else {
    _mm512_storeu_ps(to, values);
  }
}

// Written twice: a target attribute cannot be a template parameter.
template <class Number, std::size_t Channels>
FEEDRATE_AVX2 void planes_avx2(const std::byte* pixels, std::size_t count,
                               const PixelFormula& formula, std::byte* to) {
  const std::size_t plane = count * sizeof(Number);
  EightFactors own[Channels];
  for (std::size_t c = 0; c < Channels; ++c) own[c] = eight_factors(formula, c);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const std::byte* from = pixels + Channels * i;
    std::byte* place = to + i * sizeof(Number);
    if constexpr (Channels == 1) {
      store_avx2<Number>(load(from), own[0], place);
    } else {
      const __m128i parts[3] = {load(from), load(from + step), load(from + 2 * step)};
      for (std::size_t c = 0; c < Channels; ++c) {
        store_avx2<Number>(colour_of(c, parts), own[c], place + c * plane);
      }
    }
  }
  plain_from<Number, Channels, PixelLayout::planar>(i, pixels, count, formula, to);
}

template <class Number, std::size_t Channels>
FEEDRATE_AVX512 void planes_avx512(const std::byte* pixels, std::size_t count,
                                   const PixelFormula& formula, std::byte* to) {
  const std::size_t plane = count * sizeof(Number);
  const PixelScales& scales = formula.scales;
  const PixelDeviations& deviations = formula.deviations;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const std::byte* from = pixels + Channels * i;
    std::byte* place = to + i * sizeof(Number);
    if constexpr (Channels == 1) {
      store_avx512<Number>(load(from), scales[0], deviations[0], place);
    } else {
      const __m128i parts[3] = {load(from), load(from + step), load(from + 2 * step)};
      for (std::size_t c = 0; c < Channels; ++c) {
        store_avx512<Number>(colour_of(c, parts), scales[c], deviations[c], place + c * plane);
      }
    }
  }
  plain_from<Number, Channels, PixelLayout::planar>(i, pixels, count, formula, to);
}

// Eight pixels at a time are three registers, after which the channels repeat.
template <class Number>
FEEDRATE_AVX2 void interleaved_avx2(const std::byte* pixels, std::size_t count,
                                    const PixelFormula& formula, std::byte* to) {
  const EightFactors own[3] = {eight_factors_from(formula, 0), eight_factors_from(formula, 8),
                               eight_factors_from(formula, 16)};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t part = 0; part < 3; ++part) {
      const std::size_t first = 3 * i + 8 * part;
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixels + first));
      store_eight<Number>(eight, own[part], to + first * sizeof(Number));
    }
  }
  plain_from<Number, 3, PixelLayout::interleaved>(i, pixels, count, formula, to);
}

}  // namespace

template <class Number>
PixelsToValues values_by_avx2(std::size_t channels, PixelLayout layout) {
  if (layout == PixelLayout::interleaved) return channels == 3 ? interleaved_avx2<Number> : nullptr;
  return channels == 3 ? planes_avx2<Number, 3> : planes_avx2<Number, 1>;
}

template <class Number>
PixelsToValues values_by_avx512(std::size_t channels, PixelLayout layout) {
  if (layout == PixelLayout::interleaved) return nullptr;
  return channels == 3 ? planes_avx512<Number, 3> : planes_avx512<Number, 1>;
}

template PixelsToValues values_by_avx2<float>(std::size_t, PixelLayout);
template PixelsToValues values_by_avx2<Half>(std::size_t, PixelLayout);
template PixelsToValues values_by_avx512<float>(std::size_t, PixelLayout);
template PixelsToValues values_by_avx512<Half>(std::size_t, PixelLayout);

}  // namespace feedrate::loader
