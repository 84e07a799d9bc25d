#pragma once
// The crop of Inception and of torchvision's RandomResizedCrop: a random share of the area, with a
// random aspect ratio, anywhere in the image.

#include "formats/pixels/image.h"
#include "loader/order/sample_draws.h"
#include "loader/recipe_parameters.h"

namespace feedrate::loader {

inline constexpr std::uint32_t crop_tries = 10;
/// Draws that a crop uses; a recipe's further draws are numbered from here.
inline constexpr std::uint32_t crop_draws = 4 * crop_tries;

/// What crops are drawn from. By default 8 to 100 % of the area, and ratios of width to height from
/// 3/4 to 4/3.
struct CropLimits {
  double min_share = 0.08, max_share = 1.0;
  double min_ratio = 3.0 / 4.0, max_ratio = 4.0 / 3.0;
  double log_min_ratio = -0.28768207245178090, log_max_ratio = 0.28768207245178090;
};
/// Shares in (0, 1], ratios within max_crop_ratio.
CropLimits crop_limits(NumberRange share, NumberRange ratio);
inline constexpr double max_crop_ratio = 100;  // and its reciprocal

// What a user may change of them.
inline constexpr Parameter crop_scale{
    "scale", Parameter::Type::range, 1e-6, 1, {CropLimits().min_share, CropLimits().max_share}};
inline constexpr Parameter crop_ratio{"ratio",
                                      Parameter::Type::range,
                                      1 / max_crop_ratio,
                                      max_crop_ratio,
                                      {CropLimits().min_ratio, CropLimits().max_ratio}};

/// A crop with a ratio uniform in the logarithm: the first of `crop_tries` that fits into the image,
/// or else the largest central crop of an allowed ratio. The same on every machine. Any thread.
formats::Rect random_resized_crop(formats::Shape stored, const SampleRandom& random,
                                  const CropLimits& limits = {});

}  // namespace feedrate::loader
