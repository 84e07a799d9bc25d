#pragma once
// The crop of Inception and of torchvision's RandomResizedCrop: a random share of the area, with a
// random aspect ratio, anywhere in the image.

#include "formats/pixels/image.h"
#include "loader/order/random.h"

namespace feedrate::loader {

inline constexpr std::uint32_t crop_tries = 10;
/// Draws that a crop uses; a recipe's further draws are numbered from here.
inline constexpr std::uint32_t crop_draws = 4 * crop_tries;

/// A crop of 8 to 100 % of the area, with a ratio of width to height from 3/4 to 4/3 (uniform in
/// the logarithm): the first of `crop_tries` that fits into the image, or else the largest central
/// crop of an allowed ratio. The same on every machine. Any thread.
formats::Rect random_resized_crop(formats::Shape stored, const SampleRandom& random);

}  // namespace feedrate::loader
