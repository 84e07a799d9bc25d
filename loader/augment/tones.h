#pragma once
// Changes of colours, with Pillow's arithmetic to the bit: what torchvision computes for images of
// 8-bit channels. In place. Stateless.

#include "loader/operation.h"

namespace feedrate::loader {

// The factors are torchvision's adjust_*: 1 changes nothing.
void adjust_brightness(Canvas image, float factor);
void adjust_contrast(Canvas image, float factor);
void adjust_saturation(Canvas image, float factor);  // a grey image stays as it is
/// -0.5 … 0.5, of the whole circle of hues. A grey image stays as it is.
void adjust_hue(Canvas image, double turn);

/// Keeps the upper `bits` bits, 1 … 8.
void posterize(Canvas image, int bits);
/// Inverts the values from `threshold` on.
void solarize(Canvas image, double threshold);
/// Stretches each channel to 0 … 255.
void autocontrast(Canvas image);
/// Makes each channel's histogram flat.
void equalize(Canvas image);

}  // namespace feedrate::loader
