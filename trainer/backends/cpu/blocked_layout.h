#pragma once
// How the values of one node lie in memory: image after image, each cut into blocks of channels,
//
//   [image][channel / block][row][column][channel % block]
//
// so one loop handles NCHW (block 1), NHWC (block = channels) and oneDNN's nChw8c and nChw16c. The
// padding channels of the last block are zero, in gradients too.

#include <cstddef>
#include <cstdint>

#include "trainer/graph/graph.h"

namespace feedrate::trainer::cpu {

struct Layout {
  Extent extent;
  std::int64_t block = 1;

  static Layout channels_last(const Extent& extent) { return {extent, extent.channels}; }

  std::int64_t blocks() const { return (extent.channels + block - 1) / block; }
  std::int64_t pixels() const { return extent.height * extent.width; }
  /// Values of one image, padding channels included.
  std::int64_t elements() const { return blocks() * pixels() * block; }
  std::int64_t offset(std::int64_t channel, std::int64_t pixel) const {
    return (channel / block * pixels() + pixel) * block + channel % block;
  }
  bool operator==(const Layout&) const = default;
};

}  // namespace feedrate::trainer::cpu
