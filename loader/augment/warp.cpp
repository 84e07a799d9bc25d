#include "loader/augment/warp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loader/augment/tones.h"

namespace feedrate::loader {

namespace {

// Pillow computes with 16 bits behind the point.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

// Python's round(value, 15).
double to_15_digits(double value) { return std::nearbyint(value * 1e15) / 1e15; }

}  // namespace

void warp(Canvas image, const Affine& from, std::span<std::uint8_t> scratch) {
  const std::size_t channels = image.shape.channels;
  const std::int64_t height = image.shape.height, width = image.shape.width;
  std::copy_n(image.pixels, image.shape.bytes(), scratch.data());
  const std::int64_t x_right = fixed(from[0]), x_down = fixed(from[1]);
  const std::int64_t y_right = fixed(from[3]), y_down = fixed(from[4]);
  std::int64_t x_first = fixed(from[2] + from[0] * 0.5 + from[1] * 0.5);
  std::int64_t y_first = fixed(from[5] + from[3] * 0.5 + from[4] * 0.5);
  std::uint8_t* to = image.pixels;
  for (std::int64_t y = 0; y < height; ++y, x_first += x_down, y_first += y_down) {
    std::int64_t x_at = x_first, y_at = y_first;
    for (std::int64_t x = 0; x < width; ++x, x_at += x_right, y_at += y_right, to += channels) {
      const std::int64_t column = x_at >> 16, row = y_at >> 16;
      if (column < 0 || column >= width || row < 0 || row >= height) {
        std::fill_n(to, channels, std::uint8_t{0});
      } else {
        const auto at = static_cast<std::size_t>(row * width + column);
        std::copy_n(scratch.data() + at * channels, channels, to);
      }
    }
  }
}

Affine rotation(formats::Shape shape, double degrees) {
  const double turned = degrees - 360.0 * std::floor(degrees / 360.0);
  if (turned == 0) return {1, 0, 0, 0, 1, 0};
  const double angle = -turned * std::numbers::pi / 180.0;
  const double cosine = to_15_digits(std::cos(angle)), sine = to_15_digits(std::sin(angle));
  const double x = shape.width / 2.0, y = shape.height / 2.0;
  const double minus_sine = to_15_digits(-std::sin(angle));
  return {cosine,     sine,   cosine * -x + sine * -y + x,
          minus_sine, cosine, minus_sine * -x + cosine * -y + y};
}

// The centre weighs 5 of 13, its eight neighbours the rest; the border stays.
void adjust_sharpness(Canvas image, float factor, std::span<std::uint8_t> scratch) {
  const std::size_t channels = image.shape.channels, row = image.shape.width * channels;
  std::copy_n(image.pixels, image.shape.bytes(), scratch.data());
  for (std::size_t y = 1; y + 1 < image.shape.height; ++y) {
    for (std::size_t i = channels; i + channels < row; ++i) {
      const std::uint8_t* centre = scratch.data() + y * row + i;
      unsigned sum = 4U * *centre;
      for (const std::uint8_t* line : {centre - row, centre, centre + row})
        sum += unsigned{line[0]} + *(line - channels) + line[channels];
      const auto smooth = static_cast<std::uint8_t>((2 * sum + 13) / 26);
      image.pixels[y * row + i] = blend(smooth, *centre, factor);
    }
  }
}

}  // namespace feedrate::loader
