#pragma once
// The input's mean and scale: one pair for all channels, or one for each.

#include <array>

#include "loader/pixels/pixel_scale.h"
#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// From "scale" and "mean" for the first channel, and "scale1", "mean1" … for the others, which
/// default to those of the first.
inline loader::PixelScales pixel_scales(const Attributes& attributes) {
  static constexpr std::array<const char*, loader::own_scales> scales{"scale", "scale1", "scale2",
                                                                      "scale3"};
  static constexpr std::array<const char*, loader::own_scales> means{"mean", "mean1", "mean2",
                                                                     "mean3"};
  const double scale = attributes.number("scale"), mean = attributes.number("mean");
  loader::PixelScales all{};
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k] = {static_cast<float>(attributes.number(scales[k], scale)),
              static_cast<float>(attributes.number(means[k], mean))};
  }
  return all;
}

/// The scales of a network's input.
inline loader::PixelScales input_scales(const Graph& graph) {
  return pixel_scales(graph.nodes.front().attributes);
}

}  // namespace feedrate::trainer
