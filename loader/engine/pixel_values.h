#pragma once
// Converts pixels, channels last, to what batches hold otherwise: numbers, or pixels in planes.
// Stateless.

#include <cstddef>
#include <span>

#include "loader/batch.h"
#include "loader/pixels/pixel_scale.h"

namespace feedrate::loader {

/// What becomes of a pixel's value in each channel.
struct PixelFormula {
  PixelScales scales{};
  PixelDeviations deviations{};  // of all channels, or of none

  bool divides() const { return deviations[0] != 0; }
  float number(std::uint8_t pixel, std::size_t channel) const {
    const PixelScale& own = scales[channel];
    return divides() ? (static_cast<float>(pixel) - own.mean) / deviations[channel]
                     : scaled_pixel(pixel, own.scale, own.mean);
  }
};

/// Converts `count` pixels of an image to values from `to` on, in its layout.
using PixelsToValues = void (*)(const std::byte* pixels, std::size_t count,
                                const PixelFormula& formula, std::byte* to);

/// The functions for f32 or f16 of 1 or 3 channels, or u8 of 3 in planes, that this CPU can run: the
/// fastest first, plain C++, the reference, last. All give the same bits.
std::span<const PixelsToValues> runnable_value_makers(std::uint32_t channels, PixelType type,
                                                      PixelLayout layout);
/// The fastest of these.
inline PixelsToValues value_maker(std::uint32_t channels, PixelType type, PixelLayout layout) {
  return runnable_value_makers(channels, type, layout).front();
}

}  // namespace feedrate::loader
