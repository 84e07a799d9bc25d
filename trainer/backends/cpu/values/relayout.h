#pragma once
// Conversions between layouts.

#include <cstdint>

#include "trainer/backends/cpu/layout.h"

namespace feedrate::trainer::cpu {

/// Converts one image; padding channels become zero.
void relayout(const float* from, const Layout& from_layout, float* to, const Layout& to_layout);

/// The channels of one image from `first` on.
template <class Float>
struct ChannelsAt {
  Float* image;
  const Layout& layout;
  std::int64_t first;
};
/// Copies `count` channels; padding channels are not touched.
void copy_channels(std::int64_t count, const ChannelsAt<const float>& from,
                   const ChannelsAt<float>& to);
/// rows × columns, row-major, into columns × rows.
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

}  // namespace feedrate::trainer::cpu
