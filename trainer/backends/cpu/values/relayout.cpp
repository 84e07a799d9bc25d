#include "trainer/backends/cpu/values/relayout.h"

#include <algorithm>

namespace feedrate::trainer::cpu {

void relayout(const float* from, const Layout& from_layout, float* to, const Layout& to_layout) {
  if (from_layout == to_layout) {
    std::copy_n(from, from_layout.elements(), to);
    return;
  }
  const Extent& extent = from_layout.extent;
  if (to_layout.elements() != extent.elements()) std::fill_n(to, to_layout.elements(), 0.0F);
  for (std::int64_t pixel = 0; pixel < from_layout.pixels(); ++pixel) {
    for (std::int64_t channel = 0; channel < extent.channels; ++channel) {
      to[to_layout.offset(channel, pixel)] = from[from_layout.offset(channel, pixel)];
    }
  }
}

void copy_channels(std::int64_t count, const ChannelsAt<const float>& from,
                   const ChannelsAt<float>& to) {
  const std::int64_t block = from.layout.block, pixels = from.layout.pixels();
  const bool whole_blocks = to.layout.block == block && from.first % block == 0 &&
                            to.first % block == 0 && count % block == 0;
  if (whole_blocks) {
    std::copy_n(from.image + from.first * pixels, count * pixels, to.image + to.first * pixels);
    return;
  }
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::int64_t channel = 0; channel < count; ++channel) {
      to.image[to.layout.offset(to.first + channel, pixel)] =
          from.image[from.layout.offset(from.first + channel, pixel)];
    }
  }
}

void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      to[column * rows + row] = from[row * columns + column];
    }
  }
}

}  // namespace feedrate::trainer::cpu
