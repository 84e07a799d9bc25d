#pragma once
// Offsets of values within one image: planar (CHW, the canonical order) and interleaved (HWC, the
// order of images). For host and device.

#include <cstdint>

namespace feedrate::trainer {

/// The HWC offset of the value at a CHW offset; `plane` = height × width.
constexpr std::uint32_t interleaved_offset(std::uint32_t planar, std::uint32_t channels,
                                           std::uint32_t plane) {
  return planar % plane * channels + planar / plane;
}

/// Interleaved values of one image.
struct ImageLayout {
  std::uint32_t channels;
  std::uint32_t plane;

  constexpr std::uint32_t elements() const { return channels * plane; }
  /// The channel of the value at `offset`.
  constexpr std::uint32_t channel(std::uint32_t offset) const { return offset % channels; }
  constexpr std::uint32_t pixel(std::uint32_t offset) const { return offset / channels; }
  constexpr std::uint32_t offset(std::uint32_t channel, std::uint32_t pixel) const {
    return pixel * channels + channel;
  }
};

}  // namespace feedrate::trainer
