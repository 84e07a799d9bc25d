#pragma once
// Moves pixels to other places, with Pillow's arithmetic to the bit: Image.transform with an affine
// matrix. Stateless.

#include <array>
#include <span>

#include "loader/operation.h"

namespace feedrate::loader {

/// Where the pixel x, y of the result comes from: x' = a[0] x + a[1] y + a[2],
/// y' = a[3] x + a[4] y + a[5].
using Affine = std::array<double, 6>;

enum class Nearness : std::uint8_t { nearest, bilinear };
/// How pixels are taken from between others, and what is where there are none: a colour, or a grey in
/// its first number.
struct Taking {
  Nearness nearness = Nearness::nearest;
  std::array<std::uint8_t, 3> fill{};
};

/// `scratch` holds an image.
void warp(Canvas image, const Affine& from, std::span<std::uint8_t> scratch, Taking taking = {});
struct Point {
  double x, y;
};
constexpr Point centre_of(formats::Shape shape) { return {shape.width / 2.0, shape.height / 2.0}; }
/// Image.rotate: degrees, counter-clockwise about a point.
Affine rotation(double degrees, Point centre);
/// What torchvision's affine() does to an image: degrees, clockwise; pixels; times; degrees.
struct AffineChange {
  double degrees = 0, across = 0, down = 0, scale = 1, shear_x = 0, shear_y = 0;
};
Affine inverse_of(const AffineChange& change, Point centre);
/// ImageEnhance.Sharpness: 1 changes nothing. `scratch` holds an image.
void adjust_sharpness(Canvas image, float factor, std::span<std::uint8_t> scratch);

}  // namespace feedrate::loader
