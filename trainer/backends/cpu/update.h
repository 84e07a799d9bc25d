#pragma once
// An optimizer's rule over a run of the flat buffers.

#include <cstdint>

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer::cpu {

/// `size` values from `weights` on; state lies slot after slot, `slot_stride` floats apart.
struct UpdateRun {
  float* weights;
  const float* gradients;
  float* state;
  std::int64_t slot_stride;
  std::int64_t size;
};

/// The scale is that of the parameter that the run is part of.
using Update = void (*)(const UpdateRun& run, const UpdateSettings& settings,
                        const UpdateScale& scale);
Update update_of(const Optimizer& optimizer);

/// Sum of the squares of `size` values, in an order that never changes.
double sum_of_squares(const float* values, std::int64_t size);

}  // namespace feedrate::trainer::cpu
