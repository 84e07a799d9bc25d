#pragma once
// The crop of Inception and of torchvision's RandomResizedCrop: a random share of the area at a
// random ratio of the sides, anywhere in the image.

#include "formats/pixels/image.h"
#include "loader/order/random.h"

namespace feedrate::loader {

inline constexpr std::uint32_t crop_tries = 10;
/// Draws of a crop: a recipe's own begin behind them.
inline constexpr std::uint32_t crop_draws = 4 * crop_tries;

/// 8 % to all of the area, width to height from 3/4 to 4/3 (uniform in the logarithm). Of ten tries
/// the first that fits; then the largest crop at the centre whose ratio is allowed. The same on
/// every machine.
formats::Rect random_resized_crop(formats::Shape stored, const SampleRandom& random);

}  // namespace feedrate::loader
