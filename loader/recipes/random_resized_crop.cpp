// Compiled without fused multiply-add (CMakeLists.txt) and with exact functions: a last bit that
// differed between machines could give another crop.

#include "loader/recipes/random_resized_crop.h"

#include <algorithm>
#include <cmath>

#include "loader/order/draws.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// Uniform in [low, high), 53 bits.
double uniform(std::uint64_t bits, double low, double high) {
  return low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53);
}

std::uint32_t rounded(double value) {  // half to even, as Python does
  return static_cast<std::uint32_t>(std::nearbyint(value));
}

// The whole image, its longer side cut to the allowed ratio.
Rect central_crop(Shape stored, const CropLimits& limits) {
  const double ratio = static_cast<double>(stored.width) / stored.height;
  std::uint32_t width = stored.width, height = stored.height;
  if (ratio < limits.min_ratio) height = std::max(1U, rounded(width / limits.min_ratio));
  if (ratio > limits.max_ratio) width = std::max(1U, rounded(height * limits.max_ratio));
  return {(stored.height - height) / 2, (stored.width - width) / 2, height, width};
}

}  // namespace

CropLimits crop_limits(NumberRange share, NumberRange ratio) {
  CropLimits limits{.min_share = share.from, .max_share = share.to};
  if (ratio.from != limits.min_ratio) limits.log_min_ratio = logarithm(ratio.from);
  if (ratio.to != limits.max_ratio) limits.log_max_ratio = logarithm(ratio.to);
  limits.min_ratio = ratio.from;
  limits.max_ratio = ratio.to;
  return limits;
}

Rect random_resized_crop(Shape stored, const SampleRandom& random, const CropLimits& limits) {
  const double area = static_cast<double>(stored.height) * stored.width;
  for (std::uint32_t draw = 0; draw < crop_draws; draw += 4) {
    const double wanted = area * uniform(random.bits(draw), limits.min_share, limits.max_share);
    const double ratio =
        exponential(uniform(random.bits(draw + 1), limits.log_min_ratio, limits.log_max_ratio));
    const std::uint32_t width = rounded(std::sqrt(wanted * ratio));
    const std::uint32_t height = rounded(std::sqrt(wanted / ratio));
    if (width == 0 || width > stored.width || height == 0 || height > stored.height) continue;
    return {below(random.bits(draw + 2), stored.height - height + 1),
            below(random.bits(draw + 3), stored.width - width + 1), height, width};
  }
  return central_crop(stored, limits);
}

}  // namespace feedrate::loader
