#pragma once
// Conversions between layouts.

#include <cstdint>

#include "trainer/backends/cpu/blocked_layout.h"
#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

/// Converts one image; padding channels become zero. T is float or Bf16.
template <class T>
void relayout(const T* from, const Layout& from_layout, T* to, const Layout& to_layout);

/// The channels of one image from `first` on.
template <class T>
struct ChannelsAt {
  T* image;
  const Layout& layout;
  std::int64_t first;
};
/// Copies `count` channels; padding channels are not touched.
template <class T>
void copy_channels(std::int64_t count, const ChannelsAt<const T>& from, const ChannelsAt<T>& to);
/// rows × columns, row-major, into columns × rows.
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

}  // namespace feedrate::trainer::cpu
