#include "trainer/loop/train_recipe.h"

#include <cmath>

#include "formats/base/error.h"

namespace feedrate::trainer {
using namespace formats;

TrainRecipe with_optimizer(TrainRecipe recipe, std::string_view name) {
  const UpdateSettings own = optimizer(name).defaults();
  recipe.update = {.optimizer = name, .momentum = own.momentum, .decay = own.decay};
  recipe.schedule = {.rate = own.rate};
  return recipe;
}

UpdateSettings update_settings(const TrainRecipe& recipe) {
  const TrainRecipe::Update& update = recipe.update;
  UpdateSettings settings = optimizer(update.optimizer).defaults();
  settings.momentum = update.momentum;
  settings.decay = update.decay;
  if (update.beta2 > 0) settings.beta2 = update.beta2;
  if (update.epsilon > 0) settings.epsilon = update.epsilon;
  if (update.trust > 0) settings.trust = update.trust;
  return settings;
}

Schedule schedule_of(const TrainRecipe& recipe, std::uint64_t per_epoch, std::uint64_t steps) {
  Schedule schedule = recipe.schedule;
  schedule.warmup = static_cast<std::uint64_t>(
      std::llround(recipe.warmup_epochs * static_cast<double>(per_epoch)));
  if (policy(schedule.policy).rule().numbers != Policy::Numbers::length_of_training) {
    return schedule;
  }
  if (steps == 0) {
    throw Error(join("a ", schedule.policy, " schedule ends with the training: give a number of ",
                     "epochs or steps, not seconds"));
  }
  schedule.max_steps = steps;
  return schedule;
}

}  // namespace feedrate::trainer
