#pragma once
// Runs of pixels from one place to another: as they are, mirrored, grey spread to three colours.
// Stateless.

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedrate::loader {

/// `count` pixels from `from` to `to`, which do not overlap.
using CopyPixels = void (*)(const std::byte* from, std::size_t count, std::byte* to);

/// Channels are 1 or 3, not more stored than wanted. The fastest that this CPU can run.
CopyPixels pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored);
/// The same in plain C++: the referee.
CopyPixels plain_pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored);

}  // namespace feedrate::loader
