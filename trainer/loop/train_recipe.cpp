#include "trainer/loop/train_recipe.h"

#include <cmath>

#include "formats/base/error.h"

namespace feedrate::trainer {
using namespace formats;

TrainRecipe with_optimizer(TrainRecipe recipe, std::string_view name) {
  const UpdateSettings own = optimizer(name).defaults();
  recipe.optimizer = name;
  recipe.momentum = own.momentum;
  recipe.decay = own.decay;
  recipe.beta2 = recipe.epsilon = recipe.trust = 0;
  recipe.schedule = {.rate = own.rate};
  return recipe;
}

UpdateSettings update_settings(const TrainRecipe& recipe) {
  UpdateSettings settings = optimizer(recipe.optimizer).defaults();
  settings.momentum = recipe.momentum;
  settings.decay = recipe.decay;
  if (recipe.beta2 > 0) settings.beta2 = recipe.beta2;
  if (recipe.epsilon > 0) settings.epsilon = recipe.epsilon;
  if (recipe.trust > 0) settings.trust = recipe.trust;
  return settings;
}

Schedule schedule_of(const TrainRecipe& recipe, std::uint64_t per_epoch, std::uint64_t steps) {
  Schedule schedule = recipe.schedule;
  schedule.warmup = static_cast<std::uint64_t>(
      std::llround(recipe.warmup_epochs * static_cast<double>(per_epoch)));
  if (schedule.policy != "cosine") return schedule;
  if (steps == 0) {
    throw Error(
        "a cosine schedule ends with the training: give a number of epochs or steps, not seconds");
  }
  schedule.max_steps = steps;
  return schedule;
}

}  // namespace feedrate::trainer
