#pragma once
// A way to train a network: everything but the network and its data.

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
  double beta2 = 0;  // 0, and so the next: the optimizer's own
  double epsilon = 0;
  double trust = 0;
  double warmup_epochs = 0;  // the rate grows evenly to the schedule's
  std::uint64_t epochs = 0;  // how long; both 0: as long as one asks
  std::uint64_t steps = 0;
  Changes changes{};
};

/// The same by another optimizer, which starts from its own settings at an even rate.
TrainRecipe with_optimizer(TrainRecipe recipe, std::string_view optimizer);

/// Settings of every update but for the rate, which is the schedule's.
UpdateSettings update_settings(const TrainRecipe& recipe);

/// The schedule of a training of `steps` steps, `per_epoch` to an epoch. With `steps` 0, the length
/// is unknown: throws Error for a cosine, which ends where training ends.
Schedule schedule_of(const TrainRecipe& recipe, std::uint64_t per_epoch, std::uint64_t steps);

}  // namespace feedrate::trainer
