#include "tools/lab/jobs/training_request.h"

#include <algorithm>

#include <fmt/format.h>

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

namespace {

constexpr std::uint32_t far_below =
    4;  // times smaller: training seldom survives the published rate

const TrainRecipe& published_recipe(const TrainingRequest::Model& model) {
  return model.preset.empty() ? network(model.network).recipe() : preset(model.preset).recipe();
}

/// The numbers of most schedules (when the rate drops, by how much) come with a recipe, and those
/// of one schedule mean nothing to another.
void replace_policy(Schedule& schedule, const std::string& name) {
  const auto needs_recipe = [](const std::string& one) {
    return policy(one).rule().numbers == Policy::Numbers::recipe;
  };
  if (name != schedule.policy && needs_recipe(name)) {
    throw Error(join(
        "--schedule ", name, " needs numbers that only a recipe gives; choose fixed or cosine",
        needs_recipe(schedule.policy) ? join(", or ", schedule.policy, ", the recipe's own") : ""));
  }
  schedule.policy = name;
}

}  // namespace

TrainRecipe changed_recipe(const TrainingRequest& request) {
  const RecipeChanges& changes = request.changes;
  TrainRecipe recipe = published_recipe(request.model);
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
  for (const auto& [option, value] : {std::pair("--momentum", recipe.update.momentum),
                                      std::pair("--beta2", recipe.update.beta2)}) {
    if (value >= 1) throw Error(fmt::format("{} must be below 1, not {}", option, value));
  }
  replace(recipe.update.epsilon, changes.update.epsilon);
  replace(recipe.update.trust, changes.update.trust);
  if (!changes.schedule.policy.empty()) replace_policy(recipe.schedule, changes.schedule.policy);
  replace(recipe.schedule.rate, changes.schedule.rate);
  replace(recipe.warmup_epochs, changes.schedule.warmup_epochs);
  if (!changes.network.init.empty()) recipe.changes.init = changes.network.init;
  replace(recipe.changes.smoothing, changes.network.smoothing);
  if (changes.network.zero_gamma) recipe.changes.zero_gamma = true;
  if (!changes.network.means.empty()) recipe.changes.means = changes.network.means;
  if (!changes.network.deviations.empty()) recipe.changes.deviations = changes.network.deviations;
  return recipe;
}

std::string rate_advice(const TrainingRequest& request) {
  const TrainRecipe& published = published_recipe(request.model);
  const RecipeChanges& changes = request.changes;
  const std::string_view optimizer = published.update.optimizer;
  if (changes.batch == 0 || changes.schedule.rate || !changes.update.optimizer.empty()) return "";
  if (optimizer != "sgd" && optimizer != "nesterov") return "";
  if (changes.batch > published.batch / far_below) return "";
  return fmt::format(
      "the learning rate, {:.2g}, was published for batches of {} images; if the loss grows, try "
      "--lr {:.2g}",
      published.schedule.rate, published.batch,
      published.schedule.rate * changes.batch / published.batch);
}

}  // namespace feedrate::tools
