#pragma once
// The ways that the lists of pixel_values.h have.

#include <cstring>
#include <type_traits>

#include "loader/engine/pixel_values.h"
#include "loader/pixels/half.h"

namespace feedrate::loader {

using Half = std::uint16_t;  // as bits

template <class Number>
Number number_of(float value) {
  if constexpr (std::is_same_v<Number, Half>) {
    return half_bits(value);
  } else {
    return value;
  }
}

/// From pixel `first` on: the remainder of a vector loop, or all pixels.
template <class Number, std::size_t Channels, PixelLayout Layout>
void plain_from(std::size_t first, const std::byte* pixels, std::size_t count,
                const PixelFormula& formula, std::byte* to) {
  for (std::size_t c = 0; c < Channels; ++c) {
    for (std::size_t i = first; i < count; ++i) {
      const std::size_t place = Layout == PixelLayout::planar ? c * count + i : Channels * i + c;
      const auto pixel = std::to_integer<std::uint8_t>(pixels[Channels * i + c]);
      const auto number = number_of<Number>(formula.number(pixel, c));
      std::memcpy(to + place * sizeof number, &number, sizeof number);
    }
  }
}

/// Of every processor.
template <class Number>
PixelsToValues values_by_blocks(std::size_t channels, PixelLayout layout);

/// Null where there is none for these channels in this layout.
template <class Number>
PixelsToValues values_by_avx2(std::size_t channels, PixelLayout layout);
template <class Number>
PixelsToValues values_by_avx512(std::size_t channels, PixelLayout layout);

}  // namespace feedrate::loader
