#pragma once
// The loss scale on the device. Losses are multiplied by it so that their gradients fit fp16.
// Scales are powers of two, so dividing by them rounds nothing. The same steps give the same
// scales.

#include <cstdint>

#include "trainer/optimizers/loss_scale.h"

namespace feedrate::trainer::cuda {

struct DeviceLossScale {
  float scale = 65536;
  std::uint32_t good_steps = 0;  // since the scale changed
  std::uint32_t overflowed = 0;  // 1: a gradient of this step is not finite

  static constexpr auto max_scale = static_cast<float>(LossScale::max_scale);
  static constexpr std::uint32_t patience = 2000;  // good steps before the scale doubles

  /// At a scale of 1 no step is skipped, as in fp32: the scale cannot shrink any further.
  constexpr bool may_skip() const { return scale > 1; }
  /// The scale for the next step.
  constexpr DeviceLossScale next() const {
    if (overflowed != 0) return {scale / 2, 0, 0};
    if (good_steps + 1 < patience || scale >= max_scale) return {scale, good_steps + 1, 0};
    return {scale * 2, 0, 0};
  }
};

}  // namespace feedrate::trainer::cuda
