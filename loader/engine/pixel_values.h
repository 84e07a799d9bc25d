#pragma once
// Converts pixels, channels last, to numbers, channels first: the layout that networks on a CPU
// compute with. Stateless.

#include <cstddef>
#include <span>

#include "loader/batch.h"
#include "loader/pixels/pixel_scale.h"

namespace feedrate::loader {

/// Converts `count` pixels to one plane of `count` numbers for each channel, consecutively from
/// `to`.
using PixelsToValues = void (*)(const std::byte* pixels, std::size_t count,
                                const PixelScales& scales, std::byte* to);

/// The functions for 1 or 3 channels and f32 or f16 that this CPU can run: the fastest first, plain
/// C++, the reference, last. All give the same bits.
std::span<const PixelsToValues> runnable_value_makers(std::uint32_t channels, PixelType type);
/// The fastest of these.
inline PixelsToValues value_maker(std::uint32_t channels, PixelType type) {
  return runnable_value_makers(channels, type).front();
}

}  // namespace feedrate::loader
