#pragma once
// The input's mean and scale, one for all channels or each its own.

#include <array>
#include <cstdint>

#include "trainer/graph.h"

namespace feedrate {

struct PixelScale {
  float scale, mean;
};
/// Channels that may have their own; any further ones are like the first.
inline constexpr std::int64_t own_scales = 4;
using PixelScales = std::array<PixelScale, own_scales>;

/// "scale" and "mean" of the first channel; "scale1", "mean1" … of the others, absent: as the
/// first.
inline PixelScales pixel_scales(const Attributes& attributes) {
  static constexpr std::array<const char*, own_scales> scales{"scale", "scale1", "scale2",
                                                              "scale3"};
  static constexpr std::array<const char*, own_scales> means{"mean", "mean1", "mean2", "mean3"};
  const double scale = attributes.number("scale"), mean = attributes.number("mean");
  PixelScales all{};
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k] = {static_cast<float>(attributes.number(scales[k], scale)),
              static_cast<float>(attributes.number(means[k], mean))};
  }
  return all;
}

constexpr const PixelScale& scale_of(const PixelScales& scales, std::int64_t channel) {
  return scales[channel < own_scales ? static_cast<std::size_t>(channel) : 0];
}

}  // namespace feedrate
