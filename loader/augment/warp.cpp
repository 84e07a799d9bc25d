#include "loader/augment/warp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loader/augment/tone_loops.h"

namespace feedrate::loader {

namespace {

// Pillow computes with 16 bits behind the point.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

// Python's round(value, 15).
double to_15_digits(double value) { return std::nearbyint(value * 1e15) / 1e15; }

// Where a row of the result comes from, with 16 bits behind the point: the first pixel, and the step
// to the next.
struct Walk {
  std::int64_t x, y, x_step, y_step;

  std::int64_t column(std::int64_t i) const { return (x + i * x_step) >> 16; }
  std::int64_t row(std::int64_t i) const { return (y + i * y_step) >> 16; }
};

template <std::size_t Channels>
void walk(const Walk& from, std::int64_t count, std::int64_t width, const std::uint8_t* pixels,
          std::uint8_t* to) {
  for (std::int64_t i = 0; i < count; ++i, to += Channels) {
    const auto at = static_cast<std::size_t>(from.row(i) * width + from.column(i));
    std::copy_n(pixels + at * Channels, Channels, to);
  }
}

void fill_row(Walk from, formats::Shape shape, const std::uint8_t* pixels, std::uint8_t* to) {
  const std::int64_t height = shape.height, width = shape.width;
  const std::size_t channels = shape.channels;
  const auto inside = [&](std::int64_t i) {
    const std::int64_t column = from.column(i), row = from.row(i);
    return column >= 0 && column < width && row >= 0 && row < height;
  };
  // A line meets a rectangle in one piece.
  std::int64_t begin = 0, end = width;
  while (begin < width && !inside(begin)) ++begin;
  while (end > begin && !inside(end - 1)) --end;
  const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count) * channels; };
  std::fill_n(to, bytes(begin), std::uint8_t{0});
  std::fill_n(to + bytes(end), bytes(width - end), std::uint8_t{0});
  if (begin == end) return;
  to += bytes(begin);
  from.x += begin * from.x_step;
  from.y += begin * from.y_step;
  if (from.x_step == 65536 && from.y_step == 0) {  // the row as it is, moved
    std::copy_n(pixels + bytes(from.row(0) * width + from.column(0)), bytes(end - begin), to);
  } else if (channels == 3) {
    walk<3>(from, end - begin, width, pixels, to);
  } else {
    walk<1>(from, end - begin, width, pixels, to);
  }
}

}  // namespace

void warp(Canvas image, const Affine& from, std::span<std::uint8_t> scratch) {
  const formats::Shape shape = image.shape;
  std::copy_n(image.pixels, shape.bytes(), scratch.data());
  Walk row{fixed(from[2] + from[0] * 0.5 + from[1] * 0.5),
           fixed(from[5] + from[3] * 0.5 + from[4] * 0.5), fixed(from[0]), fixed(from[3])};
  const std::int64_t x_down = fixed(from[1]), y_down = fixed(from[4]);
  for (std::size_t y = 0; y < shape.height; ++y, row.x += x_down, row.y += y_down)
    fill_row(row, shape, scratch.data(), image.pixels + y * shape.width * shape.channels);
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

// The border stays.
void adjust_sharpness(Canvas image, float factor, std::span<std::uint8_t> scratch) {
  const std::size_t channels = image.shape.channels, row = image.shape.width * channels;
  if (image.shape.width < 3) return;
  std::copy_n(image.pixels, image.shape.bytes(), scratch.data());
  for (std::size_t y = 1; y + 1 < image.shape.height; ++y) {
    const std::uint8_t* const centre = scratch.data() + y * row + channels;
    tone_loops().sharpen({centre - row, centre, centre + row, channels, row - 2 * channels}, factor,
                         image.pixels + y * row + channels);
  }
}

}  // namespace feedrate::loader
