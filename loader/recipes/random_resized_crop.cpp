// Compiled without fused multiply-add (CMakeLists.txt), and with an exponential function of its
// own: a last bit that differs between machines could be another crop.

#include "loader/recipes/random_resized_crop.h"

#include <cmath>

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr double least_share = 0.08, max_share = 1.0;
constexpr double least_ratio = 3.0 / 4.0, max_ratio = 4.0 / 3.0;
constexpr double log_most_ratio = 0.28768207245178090;  // that of least_ratio is its negative

// Uniform in [low, high), 53 bits.
double uniform(std::uint64_t bits, double low, double high) {
  return low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53);
}

// For |x| < 0.3 exact to the last bit or two: the next term is below 1e-18.
double exponential(double x) {
  double sum = 1.0;
  for (int i = 13; i > 0; --i) sum = 1.0 + x * sum / i;
  return sum;
}

std::uint32_t rounded(double value) {  // half to even, as Python does
  return static_cast<std::uint32_t>(std::nearbyint(value));
}

// All of the image, or of its longer side as much as the ratio allows.
Rect central_crop(Shape stored) {
  const double ratio = static_cast<double>(stored.width) / stored.height;
  std::uint32_t width = stored.width, height = stored.height;
  if (ratio < least_ratio) height = rounded(width / least_ratio);
  if (ratio > max_ratio) width = rounded(height * max_ratio);
  return {(stored.height - height) / 2, (stored.width - width) / 2, height, width};
}

}  // namespace

Rect random_resized_crop(Shape stored, const SampleRandom& random) {
  const double area = static_cast<double>(stored.height) * stored.width;
  for (std::uint32_t draw = 0; draw < crop_draws; draw += 4) {
    const double wanted = area * uniform(random.bits(draw), least_share, max_share);
    const double ratio =
        exponential(uniform(random.bits(draw + 1), -log_most_ratio, log_most_ratio));
    const std::uint32_t width = rounded(std::sqrt(wanted * ratio));
    const std::uint32_t height = rounded(std::sqrt(wanted / ratio));
    if (width == 0 || width > stored.width || height == 0 || height > stored.height) continue;
    return {below(random.bits(draw + 2), stored.height - height + 1),
            below(random.bits(draw + 3), stored.width - width + 1), height, width};
  }
  return central_crop(stored);
}

}  // namespace feedrate::loader
