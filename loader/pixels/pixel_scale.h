#pragma once
// From pixels to numbers: the mean and scale of each channel, and the formula, for host and device.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace feedrate::loader {

struct PixelScale {
  float scale = 1, mean = 0;
  bool operator==(const PixelScale&) const = default;
};
/// Channels that may have their own; any further ones are like the first.
inline constexpr std::int64_t own_scales = 4;
using PixelScales = std::array<PixelScale, own_scales>;

constexpr const PixelScale& scale_of(const PixelScales& scales, std::int64_t channel) {
  return scales[channel < own_scales ? static_cast<std::size_t>(channel) : 0];
}

/// A pixel as a network sees it.
constexpr float scaled_pixel(std::uint8_t pixel, float scale, float mean) {
  return (static_cast<float>(pixel) - mean) * scale;
}

/// The value of each channel, where `values` holds one for all or one for each. Throws Error that
/// names `what` they are when it holds another number of them.
std::vector<double> by_channel(std::string_view what, const std::vector<double>& values,
                               std::uint32_t channels);
/// 1 / deviation. Throws Error for one that is not above 0.
double scale_of_deviation(double deviation);
/// Of what is taken off pixels and what the rest is divided by; empty: 0 and 1. Throws as
/// these do.
PixelScales make_scales(const std::vector<double>& means, const std::vector<double>& deviations,
                        std::uint32_t channels);

}  // namespace feedrate::loader
