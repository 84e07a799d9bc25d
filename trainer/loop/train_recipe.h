#pragma once
// How to train a network: everything but the network and its data.

#include <cstdint>
#include <string_view>

#include "trainer/graph/changes.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/schedules/schedule.h"

namespace feedrate::trainer {

/// How long to train, in steps or else in epochs. Both 0: not set.
struct Length {
  std::uint64_t epochs = 0;
  std::uint64_t steps = 0;
};

struct TrainRecipe {
  /// The optimizer and its settings; its rate is the schedule's.
  struct Update {
    std::string_view optimizer = "sgd";
    double momentum = 0.9;
    double decay = 0;
    double beta2 = 0;  // 0 here and below: the optimizer's default
    double epsilon = 0;
    double trust = 0;
  };

  std::uint32_t batch = 64;
  Update update{};
  Schedule schedule{};
  double warmup_epochs = 0;  // in which the rate grows linearly to the schedule's
  Length length{};
  Changes changes{};  // to the network
};

/// The same recipe with another optimizer, at that optimizer's default settings and fixed rate.
TrainRecipe with_optimizer(TrainRecipe recipe, std::string_view optimizer);

/// Settings of every update, except the rate, which the schedule sets.
UpdateSettings update_settings(const TrainRecipe& recipe);

/// The schedule of a training of `steps` steps, `per_epoch` to an epoch. With `steps` 0 the length
/// is unknown: throws Error for a policy that ends with the training, as a cosine does.
Schedule schedule_of(const TrainRecipe& recipe, std::uint64_t per_epoch, std::uint64_t steps);

}  // namespace feedrate::trainer
