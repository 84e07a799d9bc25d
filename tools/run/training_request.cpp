#include "tools/run/training_request.h"

#include <algorithm>

#include "formats/base/error.h"
#include "trainer/networks/network.h"
#include "trainer/presets/preset.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

void complete(TrainingRequest& request) {
  if (!request.model.preset.empty()) {
    const Preset& known = preset(request.model.preset);
    if (request.model.network.empty()) request.model.network = known.network();
    if (request.data.recipe.empty()) request.data.recipe = known.augmentation();
  }
  constexpr std::string_view modes[] = {"train", "infer", "features"};
  if (std::ranges::find(modes, request.mode) == std::end(modes)) {
    throw Error(unknown_kind("mode", request.mode, modes));
  }
}

TrainRecipe changed_recipe(const TrainingRequest& request) {
  const auto& [network_name, preset_name] = request.model;
  const RecipeChanges& changes = request.changes;
  TrainRecipe recipe =
      preset_name.empty() ? network(network_name).recipe() : preset(preset_name).recipe();
  if (!changes.update.optimizer.empty() && changes.update.optimizer != recipe.update.optimizer) {
    recipe = with_optimizer(recipe, changes.update.optimizer);
  }
  if (changes.batch > 0) recipe.batch = changes.batch;
  const auto replace = [](double& value, const std::optional<double>& by) {
    value = by.value_or(value);
  };
  replace(recipe.update.momentum, changes.update.momentum);
  replace(recipe.update.decay, changes.update.decay);
  replace(recipe.update.beta2, changes.update.beta2);
  replace(recipe.update.epsilon, changes.update.epsilon);
  replace(recipe.update.trust, changes.update.trust);
  if (!changes.schedule.policy.empty()) recipe.schedule.policy = changes.schedule.policy;
  replace(recipe.schedule.rate, changes.schedule.rate);
  replace(recipe.warmup_epochs, changes.schedule.warmup_epochs);
  if (!changes.network.init.empty()) recipe.changes.init = changes.network.init;
  replace(recipe.changes.smoothing, changes.network.smoothing);
  if (changes.network.zero_gamma) recipe.changes.zero_gamma = true;
  if (!changes.network.means.empty()) recipe.changes.means = changes.network.means;
  if (!changes.network.deviations.empty()) recipe.changes.deviations = changes.network.deviations;
  return recipe;
}

}  // namespace feedrate::tools
