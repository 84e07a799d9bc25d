#include "trainer/backends/cpu/values/relayout.h"

#include <algorithm>

namespace feedrate::trainer::cpu {

template <class T>
void relayout(const T* from, const Layout& from_layout, T* to, const Layout& to_layout) {
  if (from_layout == to_layout) {
    std::copy_n(from, from_layout.elements(), to);
    return;
  }
  const Extent& extent = from_layout.extent;
  if (to_layout.elements() != extent.elements()) std::fill_n(to, to_layout.elements(), T(0.0F));
  for (std::int64_t pixel = 0; pixel < from_layout.pixels(); ++pixel) {
    for (std::int64_t channel = 0; channel < extent.channels; ++channel) {
      to[to_layout.offset(channel, pixel)] = from[from_layout.offset(channel, pixel)];
    }
  }
}

template void relayout(const float*, const Layout&, float*, const Layout&);
template void relayout(const Bf16*, const Layout&, Bf16*, const Layout&);

template <class T>
void copy_channels(std::int64_t count, const ChannelsAt<const T>& from, const ChannelsAt<T>& to) {
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

template void copy_channels(std::int64_t, const ChannelsAt<const float>&, const ChannelsAt<float>&);
template void copy_channels(std::int64_t, const ChannelsAt<const Bf16>&, const ChannelsAt<Bf16>&);

void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      to[column * rows + row] = from[row * columns + column];
    }
  }
}

}  // namespace feedrate::trainer::cpu
