// Loops over a block of pixels, in which nothing but the pixel differs, so that GCC makes vectors of
// them on every processor.

#include <algorithm>
#include <array>

#include "loader/engine/pixel_values_ways.h"

namespace feedrate::loader {
namespace {

constexpr std::size_t block = 64;  // pixels: their values stay in the first-level cache

using Pixels = std::array<std::uint8_t, block>;

// What is subtracted from a pixel, and what the difference is multiplied or divided by.
class Line {
 public:
  std::array<float, block> mean, factor;
  bool divides;

  // Of a plane.
  Line(const PixelFormula& formula, std::size_t channel) : Line(formula, channel, 0) {}
  // Value i is in channel (first + i) % 3.
  static Line interleaved(const PixelFormula& formula, std::size_t first) {
    return {formula, first, 1};
  }

 private:
  Line(const PixelFormula& formula, std::size_t first, std::size_t step)
      : divides(formula.divides()) {
    for (std::size_t i = 0; i < block; ++i) {
      const std::size_t channel = (first + i * step) % 3;
      mean[i] = formula.scales[channel].mean;
      factor[i] = divides ? formula.deviations[channel] : formula.scales[channel].scale;
    }
  }
};

template <class Number>
Number converted(float value) {
  if constexpr (std::is_same_v<Number, Half>) {
    return converted_to_half(value);
  } else {
    return value;
  }
}

template <class Number>
void store(const Pixels& pixels, const Line& line, std::byte* to) {
  std::array<float, block> values;
  for (std::size_t i = 0; i < block; ++i) {
    values[i] = static_cast<float>(pixels[i]) - line.mean[i];
  }
  if (line.divides) {
    for (std::size_t i = 0; i < block; ++i) values[i] /= line.factor[i];
  } else {
    for (std::size_t i = 0; i < block; ++i) values[i] *= line.factor[i];
  }
  std::array<Number, block> numbers;
  for (std::size_t i = 0; i < block; ++i) numbers[i] = converted<Number>(values[i]);
  std::memcpy(to, numbers.data(), sizeof numbers);
}

template <class Number, std::size_t Channels>
void planes(const std::byte* pixels, std::size_t count, const PixelFormula& formula,
            std::byte* to) {
  const std::size_t whole = count / block * block;
  for (std::size_t c = 0; c < Channels; ++c) {
    const Line line(formula, c);
    for (std::size_t i = 0; i < whole; i += block) {
      Pixels own;
      for (std::size_t k = 0; k < block; ++k) {
        own[k] = std::to_integer<std::uint8_t>(pixels[Channels * (i + k) + c]);
      }
      store<Number>(own, line, to + (c * count + i) * sizeof(Number));
    }
  }
  plain_from<Number, Channels, PixelLayout::planar>(whole, pixels, count, formula, to);
}

// Three blocks of values at a time, after which the channels repeat.
template <class Number>
void interleaved(const std::byte* pixels, std::size_t count, const PixelFormula& formula,
                 std::byte* to) {
  const Line lines[3] = {Line::interleaved(formula, 0), Line::interleaved(formula, block),
                         Line::interleaved(formula, 2 * block)};
  const std::size_t whole = count / block * block;
  for (std::size_t at = 0; at < 3 * whole; at += block) {
    Pixels own;
    std::memcpy(own.data(), pixels + at, block);
    store<Number>(own, lines[at / block % 3], to + at * sizeof(Number));
  }
  plain_from<Number, 3, PixelLayout::interleaved>(whole, pixels, count, formula, to);
}

}  // namespace

template <class Number>
PixelsToValues values_by_blocks(std::size_t channels, PixelLayout layout) {
  if (channels != 3) return planes<Number, 1>;
  return layout == PixelLayout::interleaved ? interleaved<Number> : planes<Number, 3>;
}

template PixelsToValues values_by_blocks<float>(std::size_t, PixelLayout);
template PixelsToValues values_by_blocks<Half>(std::size_t, PixelLayout);

}  // namespace feedrate::loader
