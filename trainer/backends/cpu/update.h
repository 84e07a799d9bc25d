#pragma once
// Runs an optimizer's rule over a part of the flat buffers.

#include <cstdint>

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer::cpu {

/// `size` values from `weights` on; the slots of state are `slot_stride` floats apart.
struct UpdateRun {
  float* weights;
  const float* gradients;
  float* state;
  std::int64_t slot_stride;
  std::int64_t size;
};

/// Updates a run of one parameter's values; `scale` is that of the parameter.
using Update = void (*)(const UpdateRun& run, const UpdateSettings& settings,
                        const UpdateScale& scale);
Update update_of(const Optimizer& optimizer);

/// Sum of the squares of `size` values, in a fixed order.
double sum_of_squares(const float* values, std::int64_t size);

}  // namespace feedrate::trainer::cpu
