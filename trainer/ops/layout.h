#pragma once
// Where a value lies: planar (CHW, what the networks compute on) and interleaved (HWC, what images
// are). Offsets within one image; for host and device.

#include <cstdint>

namespace feedrate {

/// The HWC offset of the value at a CHW offset; `plane` = height × width.
constexpr std::uint32_t interleaved_offset(std::uint32_t planar, std::uint32_t channels,
                                           std::uint32_t plane) {
  return planar % plane * channels + planar / plane;
}

}  // namespace feedrate
