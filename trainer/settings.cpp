#include "trainer/settings.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

/// The numbers of most schedules (when the rate drops, by how much) come with a recipe, and those
/// of one schedule mean nothing to another.
void replace_policy(Schedule& schedule, const TrainSettings& settings, Spelling by) {
  const auto needs_recipe = [](const std::string& one) {
    return policy(one).rule().numbers == Policy::Numbers::recipe;
  };
  const std::string& name = *settings.schedule;
  if (name != schedule.policy && needs_recipe(name)) {
    throw Error(join(
        spelled(row_of(settings, settings.schedule), {name}, by),
        " needs numbers that only a recipe gives; choose fixed or cosine",
        needs_recipe(schedule.policy) ? join(", or ", schedule.policy, ", the recipe's own") : ""));
  }
  schedule.policy = name;
}

/// A setting that the optimizer's rule does not read would be ignored; and 0 is no value of these
/// three, for which the recipe takes it to be the default.
void expect_effect(const TrainSettings& settings, const Optimizer& chosen, Spelling by) {
  const auto expect = [&](const auto& member, bool is_read, std::string_view of_zero) {
    if (!member) return;
    const std::string name = spelled(row_of(settings, member), by);
    if (!is_read) throw Error(join(name, " has no effect on the optimizer ", chosen.name()));
    if (*member == 0) throw Error(join(name, ": expected a number above 0, found 0: ", of_zero));
  };
  const bool squares =
      chosen.states() > 1;  // rules with a mean of squares keep it in a second state
  expect(settings.beta2, squares, "the mean of squares would be that of the last gradient");
  expect(settings.epsilon, squares, "gradients of 0 would be divided by 0");
  expect(settings.trust, chosen.norms(), "no layer would learn");
}

template <class Value, class By>
void replace(Value& value, const std::optional<By>& by) {
  if (by) value = *by;
}

}  // namespace

TrainRecipe changed(TrainRecipe recipe, const TrainSettings& settings, Spelling by) {
  expect_values(settings, by);
  loader::check_scales(settings.mean, settings.deviation, by);
  if (settings.optimizer && *settings.optimizer != recipe.update.optimizer) {
    recipe = with_optimizer(recipe, *settings.optimizer);
  }
  expect_effect(settings, optimizer(recipe.update.optimizer), by);
  replace(recipe.batch, settings.batch);
  replace(recipe.update.momentum, settings.momentum);
  replace(recipe.update.decay, settings.decay);
  replace(recipe.update.beta2, settings.beta2);
  replace(recipe.update.epsilon, settings.epsilon);
  replace(recipe.update.trust, settings.trust);
  if (settings.schedule) replace_policy(recipe.schedule, settings, by);
  replace(recipe.schedule.rate, settings.lr);
  replace(recipe.warmup_epochs, settings.warmup);
  replace(recipe.changes.init, settings.init);
  replace(recipe.changes.smoothing, settings.label_smoothing);
  if (settings.zero_gamma) recipe.changes.zero_gamma = true;
  if (!settings.mean.empty()) recipe.changes.means = settings.mean;
  if (!settings.deviation.empty()) recipe.changes.deviations = settings.deviation;
  return recipe;
}

TrainSettings settings_of(const TrainRecipe& recipe) {
  const TrainRecipe::Update& update = recipe.update;
  const auto unless_default = [](double value) {
    return value == 0 ? std::nullopt : std::optional(value);
  };
  return {.batch = recipe.batch,
          .optimizer = std::string(update.optimizer),
          .lr = recipe.schedule.rate,
          .momentum = update.momentum,
          .decay = update.decay,
          .beta2 = unless_default(update.beta2),
          .epsilon = unless_default(update.epsilon),
          .trust = unless_default(update.trust),
          .schedule = recipe.schedule.policy,
          .warmup = recipe.warmup_epochs,
          .label_smoothing = recipe.changes.smoothing,
          .init = std::string(recipe.changes.init),
          .mean = recipe.changes.means,
          .deviation = recipe.changes.deviations,
          .zero_gamma = recipe.changes.zero_gamma};
}

}  // namespace feedrate::trainer
