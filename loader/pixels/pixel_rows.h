#pragma once
// Copies rows of pixels: as they are, mirrored, made grey, or grey spread over three colours.
// Stateless.

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedrate::loader {

/// Copies `count` pixels from `from` to `to`, which do not overlap.
using CopyPixels = void (*)(const std::byte* from, std::size_t count, std::byte* to);

/// The fastest copier that this CPU can run. Both counts of channels are 1 or 3.
CopyPixels pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored);
/// The same in plain C++: the reference.
CopyPixels plain_pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored);

}  // namespace feedrate::loader
