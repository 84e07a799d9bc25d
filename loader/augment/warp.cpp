#include "loader/augment/warp.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "loader/augment/tone_loops.h"

namespace feedrate::loader {

namespace {

// Pillow computes with 16 bits behind the point.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

// Python's round(value, 15): to the nearest of the exact values, which a product's rounding would hide.
double to_15_digits(double value) {
  std::array<char, 32> text{};
  const char* const end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 15).ptr;
  std::from_chars(text.begin(), end, value);
  return value;
}

// Python's math.radians.
double radians(double degrees) { return degrees * (std::numbers::pi / 180.0); }

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

using Fill = std::array<std::uint8_t, 3>;

std::uint8_t* filled(std::uint8_t* to, std::int64_t count, std::size_t channels, const Fill& fill) {
  for (std::int64_t i = 0; i < count; ++i) to = std::copy_n(fill.data(), channels, to);
  return to;
}

// Calls `take(begin, end, to)` for those pixels of a row of the result that come from inside, by
// `inside(i)`: a line meets a rectangle in one piece. The others are filled.
template <class Inside, class Take>
void fill_row(formats::Shape shape, const Fill& fill, std::uint8_t* to, Inside inside, Take take) {
  const std::int64_t width = shape.width;
  std::int64_t begin = 0, end = width;
  while (begin < width && !inside(begin)) ++begin;
  while (end > begin && !inside(end - 1)) --end;
  to = filled(to, begin, shape.channels, fill);
  if (begin < end) take(begin, end, to);
  filled(to + static_cast<std::size_t>(end - begin) * shape.channels, width - end, shape.channels,
         fill);
}

void take_nearest(Walk from, formats::Shape shape, const std::uint8_t* pixels, std::uint8_t* to,
                  const Fill& fill) {
  const std::int64_t height = shape.height, width = shape.width;
  const std::size_t channels = shape.channels;
  const auto inside = [&](std::int64_t i) {
    const std::int64_t column = from.column(i), row = from.row(i);
    return column >= 0 && column < width && row >= 0 && row < height;
  };
  fill_row(shape, fill, to, inside, [&](std::int64_t begin, std::int64_t end, std::uint8_t* at) {
    Walk there = from;
    there.x += begin * from.x_step;
    there.y += begin * from.y_step;
    if (there.x_step == 65536 && there.y_step == 0) {  // the row as it is, moved
      std::copy_n(
          pixels + static_cast<std::size_t>(there.row(0) * width + there.column(0)) * channels,
          static_cast<std::size_t>(end - begin) * channels, at);
    } else if (channels == 3) {
      walk<3>(there, end - begin, width, pixels, at);
    } else {
      walk<1>(there, end - begin, width, pixels, at);
    }
  });
}

// Where the pixels of an axis come from that is only scaled and moved; -1: from outside. Pillow adds up
// the steps.
void each_place(double first, double step, std::uint32_t count, std::uint32_t side, auto take) {
  double at = first + step * 0.5;
  for (std::uint32_t i = 0; i < count; ++i, at += step)
    take(i, at >= 0.0 && at < side ? static_cast<std::int64_t>(at) : -1);
}

void take_scaled(Canvas image, const Affine& from, const std::uint8_t* pixels, const Fill& fill) {
  const formats::Shape shape = image.shape;
  const std::size_t channels = shape.channels, row = shape.width * channels;
  each_place(
      from[5], from[4], shape.height, shape.height, [&](std::uint32_t y, std::int64_t from_y) {
        std::uint8_t* const to = image.pixels + y * row;
        if (from_y < 0) {
          filled(to, shape.width, channels, fill);
          return;
        }
        const std::uint8_t* const line = pixels + static_cast<std::size_t>(from_y) * row;
        each_place(
            from[2], from[0], shape.width, shape.width, [&](std::uint32_t x, std::int64_t from_x) {
              const std::uint8_t* const pixel =
                  from_x < 0 ? fill.data() : line + static_cast<std::size_t>(from_x) * channels;
              std::copy_n(pixel, channels, to + x * channels);
            });
      });
}

template <std::size_t Channels>
void take_bilinear(const Affine& from, std::size_t y, formats::Shape shape,
                   const std::uint8_t* pixels, std::uint8_t* to, const Fill& fill) {
  const double height = shape.height, width = shape.width, down = static_cast<double>(y) + 0.5;
  const auto place = [&](std::int64_t i) {
    const double across = static_cast<double>(i) + 0.5;
    return Point{from[0] * across + from[1] * down + from[2],
                 from[3] * across + from[4] * down + from[5]};
  };
  const auto inside = [&](std::int64_t i) {
    const auto [at_x, at_y] = place(i);
    return at_x >= 0 && at_x < width && at_y >= 0 && at_y < height;
  };
  const std::int64_t last_x = shape.width - 1, last_y = shape.height - 1;
  fill_row(shape, fill, to, inside, [&](std::int64_t begin, std::int64_t end, std::uint8_t* at) {
    for (std::int64_t i = begin; i < end; ++i, at += Channels) {
      const auto [at_x, at_y] = place(i);
      const double left = at_x - 0.5, top = at_y - 0.5;
      const std::int64_t column = static_cast<std::int64_t>(left) - (left < 0 ? 1 : 0);
      const std::int64_t row = static_cast<std::int64_t>(top) - (top < 0 ? 1 : 0);
      const double across = left - static_cast<double>(column),
                   along = top - static_cast<double>(row);
      const auto first = static_cast<std::size_t>(std::max<std::int64_t>(column, 0)) * Channels;
      const auto second = static_cast<std::size_t>(std::min(column + 1, last_x)) * Channels;
      const auto line = [&](std::int64_t of) {
        return pixels + static_cast<std::size_t>(of) * shape.width * Channels;
      };
      const std::uint8_t* const upper = line(std::max<std::int64_t>(row, 0));
      const std::uint8_t* const lower = line(std::min(row + 1, last_y));
      for (std::size_t c = 0; c < Channels; ++c) {
        const auto mixed = [&](const std::uint8_t* of) {
          const double a = of[first + c], b = of[second + c];
          return a + (b - a) * across;
        };
        const double above = mixed(upper), below = mixed(lower);
        at[c] = static_cast<std::uint8_t>(above + (below - above) * along);
      }
    }
  });
}

}  // namespace

void warp(Canvas image, const Affine& from, std::span<std::uint8_t> scratch, Taking taking) {
  const formats::Shape shape = image.shape;
  std::copy_n(image.pixels, shape.bytes(), scratch.data());
  const auto line = [&](std::size_t y) { return image.pixels + y * shape.width * shape.channels; };
  if (taking.nearness == Nearness::bilinear) {
    const auto take = shape.channels == 3 ? take_bilinear<3> : take_bilinear<1>;
    for (std::size_t y = 0; y < shape.height; ++y)
      take(from, y, shape, scratch.data(), line(y), taking.fill);
    return;
  }
  if (from[1] == 0 && from[3] == 0 && (from[0] != 1 || from[4] != 1)) {
    take_scaled(image, from, scratch.data(), taking.fill);
    return;
  }
  Walk row{fixed(from[2] + from[0] * 0.5 + from[1] * 0.5),
           fixed(from[5] + from[3] * 0.5 + from[4] * 0.5), fixed(from[0]), fixed(from[3])};
  const std::int64_t x_down = fixed(from[1]), y_down = fixed(from[4]);
  for (std::size_t y = 0; y < shape.height; ++y, row.x += x_down, row.y += y_down)
    take_nearest(row, shape, scratch.data(), line(y), taking.fill);
}

Affine rotation(double degrees, Point centre) {
  const double turned = degrees - 360.0 * std::floor(degrees / 360.0);
  if (turned == 0) return {1, 0, 0, 0, 1, 0};
  const double angle = -radians(turned);
  const double cosine = to_15_digits(std::cos(angle)), sine = to_15_digits(std::sin(angle));
  const auto [x, y] = centre;
  const double minus_sine = to_15_digits(-std::sin(angle));
  return {cosine,     sine,   cosine * -x + sine * -y + x,
          minus_sine, cosine, minus_sine * -x + cosine * -y + y};
}

// In torchvision's order.
Affine inverse_of(const AffineChange& change, Point centre) {
  const double turn = radians(change.degrees), shear_x = radians(change.shear_x),
               shear_y = radians(change.shear_y);
  const double leaning = turn - shear_y, upright = std::cos(shear_y);
  const double a = std::cos(leaning) / upright;
  const double b = -std::cos(leaning) * std::tan(shear_x) / upright - std::sin(turn);
  const double c = std::sin(leaning) / upright;
  const double d = -std::sin(leaning) * std::tan(shear_x) / upright + std::cos(turn);
  Affine from{d / change.scale, -b / change.scale, 0, -c / change.scale, a / change.scale, 0};
  const double x = -centre.x - change.across, y = -centre.y - change.down;
  from[2] = from[0] * x + from[1] * y + centre.x;
  from[5] = from[3] * x + from[4] * y + centre.y;
  return from;
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
