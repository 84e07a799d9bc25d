// Compiled without fused multiply-add (CMakeLists.txt) and with its own exponential function: a
// last bit that differed between machines could give another crop.

#include "loader/recipes/random_resized_crop.h"

#include <cmath>

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr double min_share = 0.08, max_share = 1.0;
constexpr double min_ratio = 3.0 / 4.0, max_ratio = 4.0 / 3.0;
constexpr double log_max_ratio = 0.28768207245178090;  // log(min_ratio) is its negative

// Uniform in [low, high), 53 bits.
double uniform(std::uint64_t bits, double low, double high) {
  return low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53);
}

// A Taylor series, exact to the last bit or two for |x| < 0.3: the next term is below 1e-18.
double exponential(double x) {
  double sum = 1.0;
  for (int i = 13; i > 0; --i) sum = 1.0 + x * sum / i;
  return sum;
}

std::uint32_t rounded(double value) {  // half to even, as Python does
  return static_cast<std::uint32_t>(std::nearbyint(value));
}

// The whole image, its longer side cut to the allowed ratio.
Rect central_crop(Shape stored) {
  const double ratio = static_cast<double>(stored.width) / stored.height;
  std::uint32_t width = stored.width, height = stored.height;
  if (ratio < min_ratio) height = rounded(width / min_ratio);
  if (ratio > max_ratio) width = rounded(height * max_ratio);
  return {(stored.height - height) / 2, (stored.width - width) / 2, height, width};
}

}  // namespace

Rect random_resized_crop(Shape stored, const SampleRandom& random) {
  const double area = static_cast<double>(stored.height) * stored.width;
  for (std::uint32_t draw = 0; draw < crop_draws; draw += 4) {
    const double wanted = area * uniform(random.bits(draw), min_share, max_share);
    const double ratio = exponential(uniform(random.bits(draw + 1), -log_max_ratio, log_max_ratio));
    const std::uint32_t width = rounded(std::sqrt(wanted * ratio));
    const std::uint32_t height = rounded(std::sqrt(wanted / ratio));
    if (width == 0 || width > stored.width || height == 0 || height > stored.height) continue;
    return {below(random.bits(draw + 2), stored.height - height + 1),
            below(random.bits(draw + 3), stored.width - width + 1), height, width};
  }
  return central_crop(stored);
}

}  // namespace feedrate::loader
