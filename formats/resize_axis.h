#pragma once
// One direction of resizing: how much each source pixel weighs in each target pixel.

#include <cstdint>
#include <vector>

namespace feedrate {

inline constexpr int resize_bits = 22;      // weights are in units of 2^-22, as Pillow has them
inline constexpr int resize_low_bits = 15;  // of a weight, in `low`; the others in `high`

struct ResizeAxis {
  std::uint32_t from = 0;  // pixels
  std::uint32_t to = 0;
  std::uint32_t most = 0;            // the largest count
  std::size_t stride = 0;            // weights kept for a target pixel, zeros behind its count
  std::vector<std::uint32_t> first;  // source pixel that the first weight is for
  std::vector<std::uint32_t> count;  // weights of a target pixel
  std::vector<std::int32_t> weights;
  // The same weights in halves, for the instruction that multiplies pairs of 16 bits.
  std::vector<std::int16_t> low, high;

  /// Computes all of it, unless it is there already.
  void set(std::uint32_t new_from, std::uint32_t new_to);
};

}  // namespace feedrate
