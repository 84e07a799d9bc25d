#pragma once
// Pixels, channels last, to numbers, channel by channel: what networks on a CPU compute with.
// Stateless.

#include <cstddef>
#include <span>

#include "loader/batch.h"
#include "loader/pixels/pixel_scale.h"

namespace feedrate::loader {

/// `count` pixels to planes of as many numbers, one plane behind the other from `to` on.
using PixelsToValues = void (*)(const std::byte* pixels, std::size_t count,
                                const PixelScales& scales, std::byte* to);

/// Those for 1 or 3 channels and f32 or f16 that this CPU can run, the fastest first, plain C++
/// last: the referee. The same bits of all.
std::span<const PixelsToValues> runnable_value_makers(std::uint32_t channels, PixelType type);
inline PixelsToValues value_maker(std::uint32_t channels, PixelType type) {
  return runnable_value_makers(channels, type).front();
}

}  // namespace feedrate::loader
