#pragma once
// What losses are multiplied by so that fp16 holds their gradients, as it lies on the device.
// Powers of two, so that taking it off again rounds nothing. The same steps give the same scales.

#include <cstdint>

#include "trainer/optimizers/loss_scale.h"

namespace feedrate::trainer::cuda {

struct DeviceLossScale {
  float scale = 65536;
  std::uint32_t good_steps = 0;  // since it changed
  std::uint32_t overflowed = 0;  // a gradient of this step was not finite

  static constexpr auto max_scale = static_cast<float>(LossScale::max_scale);
  static constexpr std::uint32_t patience = 2000;

  /// A scale of 1 has nothing left to take away: then fp16 does what fp32 would.
  constexpr bool may_skip() const { return scale > 1; }
  /// As the next step finds it.
  constexpr DeviceLossScale next() const {
    if (overflowed != 0) return {scale / 2, 0, 0};
    if (good_steps + 1 < patience || scale >= max_scale) return {scale, good_steps + 1, 0};
    return {scale * 2, 0, 0};
  }
};

}  // namespace feedrate::trainer::cuda
