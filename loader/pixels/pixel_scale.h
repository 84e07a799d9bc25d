#pragma once
// From pixels to numbers: the mean and scale of each channel, and the formula, for host and device.
// Stateless.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace feedrate::loader {

struct PixelScale {
  float scale = 1, mean = 0;
  bool operator==(const PixelScale&) const = default;
};
/// How many channels can have a scale of their own. Further channels use that of the first.
inline constexpr std::int64_t own_scales = 4;
using PixelScales = std::array<PixelScale, own_scales>;

constexpr const PixelScale& scale_of(const PixelScales& scales, std::int64_t channel) {
  return scales[channel < own_scales ? static_cast<std::size_t>(channel) : 0];
}

/// The number that a network sees for a pixel.
constexpr float scaled_pixel(std::uint8_t pixel, float scale, float mean) {
  return (static_cast<float>(pixel) - mean) * scale;
}

/// One value for each channel; `values` holds one for all channels or one for each. Throws Error,
/// which calls the values `what`, when it holds another number of values.
std::vector<double> by_channel(std::string_view what, const std::vector<double>& values,
                               std::uint32_t channels);
/// 1 / deviation. Throws Error unless the deviation is above 0.
double scale_of_deviation(double deviation);
/// The scales that subtract `means` (empty: 0) and divide by `deviations` (empty: 1). Throws what
/// by_channel() and scale_of_deviation() throw.
PixelScales make_scales(const std::vector<double>& means, const std::vector<double>& deviations,
                        std::uint32_t channels);

}  // namespace feedrate::loader
