#pragma once
// An optimizer's rule over a run of the flat buffers.

#include <cstdint>

#include "trainer/optimizer.h"

namespace feedrate::cpu {

/// `size` values from `weights` on; state lies slot after slot, `slot_stride` floats apart.
struct UpdateRun {
  float* weights;
  const float* gradients;
  float* state;
  std::int64_t slot_stride;
  std::int64_t size;
};

/// The settings are those of the run's parameter, its scales applied.
using Update = void (*)(const UpdateRun& run, const UpdateSettings& settings);
Update update_of(const Optimizer& optimizer);

}  // namespace feedrate::cpu
