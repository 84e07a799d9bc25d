#pragma once
// How to train a network: everything but the network and its data.

#include <cstdint>
#include <string_view>

#include "trainer/graph/changes.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/optimizers/schedule.h"

namespace feedrate::trainer {

struct TrainRecipe {
  std::uint32_t batch = 64;
  std::string_view optimizer = "sgd";
  double momentum = 0.9;
  double decay = 0;
  Schedule schedule{};
  double beta2 = 0;  // this and the next two: 0 means the optimizer's default
  double epsilon = 0;
  double trust = 0;
  double warmup_epochs = 0;  // in which the rate grows linearly to the schedule's
  std::uint64_t epochs = 0;  // length of the training; this and steps 0: not set
  std::uint64_t steps = 0;
  Changes changes{};
};

/// The same recipe with another optimizer, its default settings and a fixed rate.
TrainRecipe with_optimizer(TrainRecipe recipe, std::string_view optimizer);

/// Settings of every update, except the rate, which the schedule sets.
UpdateSettings update_settings(const TrainRecipe& recipe);

/// The schedule of a training of `steps` steps, `per_epoch` in each epoch. With `steps` 0 the
/// length is unknown: throws Error for a cosine, which ends with the training.
Schedule schedule_of(const TrainRecipe& recipe, std::uint64_t per_epoch, std::uint64_t steps);

}  // namespace feedrate::trainer
