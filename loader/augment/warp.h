#pragma once
// Moves pixels to other places, with Pillow's arithmetic to the bit: Image.transform with an affine
// matrix and the nearest pixel; black where there is none. Stateless.

#include <array>
#include <span>

#include "loader/operation.h"

namespace feedrate::loader {

/// Where the pixel x, y of the result comes from: x' = a[0] x + a[1] y + a[2],
/// y' = a[3] x + a[4] y + a[5].
using Affine = std::array<double, 6>;

/// `scratch` holds an image.
void warp(Canvas image, const Affine& from, std::span<std::uint8_t> scratch);
/// Image.rotate: degrees, counter-clockwise about the centre.
Affine rotation(formats::Shape shape, double degrees);
/// ImageEnhance.Sharpness: 1 changes nothing. `scratch` holds an image.
void adjust_sharpness(Canvas image, float factor, std::span<std::uint8_t> scratch);

}  // namespace feedrate::loader
