// Recipes of training: their changes to a graph, their schedules, and the presets.

#include <gtest/gtest.h>

#include "loader/recipe.h"
#include "tests/support/expect_error.h"
#include "trainer/presets/preset.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using testing::expect_error;

Graph residual() {
  Builder b("residual", {8, 8, 1}, 4);
  const auto x = b.relu(b.batch_norm(b.conv(b.input(1), 4, 3, 1, 1, {.no_bias = true}), {}));
  const auto branch = b.batch_norm(b.conv(x, 4, 3, 1, 1, {.no_bias = true}), {});
  return b.softmax_loss(b.dense(b.global_avg_pool(b.relu(b.sum(branch, x))), 4, {}));
}

const Parameter& named(const Graph& graph, std::string_view name) {
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.name == name) return parameter;
  }
  throw Error(join("no parameter ", name));
}

TEST(UnitChanges, nothing_asked_changes_nothing) {
  Graph graph = residual();
  apply({}, graph);
  EXPECT_EQ(named(graph, "conv1.weight").init.rule, Init::Rule::xavier);
  EXPECT_EQ(named(graph, "batch_norm2.weight").init.value, 1);
  EXPECT_EQ(graph.nodes.back().attributes.number("smoothing"), 0);
}

TEST(UnitChanges, each_changes_what_it_says) {
  Graph graph = residual();
  apply({.init = "he", .smoothing = 0.1, .zero_gamma = true, .decay_vectors = false}, graph);
  EXPECT_EQ(named(graph, "conv1.weight").init.rule, Init::Rule::he_normal);
  EXPECT_EQ(named(graph, "dense1.weight").init.rule, Init::Rule::he_normal);
  EXPECT_EQ(named(graph, "batch_norm1.weight").init.value, 1);
  EXPECT_EQ(named(graph, "batch_norm2.weight").init.value, 0);
  EXPECT_EQ(graph.nodes.back().attributes.number("smoothing"), 0.1);
  EXPECT_EQ(named(graph, "dense1.bias").decay_scale, 0);
  EXPECT_EQ(named(graph, "batch_norm1.weight").decay_scale, 0);
  EXPECT_EQ(named(graph, "dense1.weight").decay_scale, 1);
}

TEST(UnitChanges, pixels_get_a_mean_and_a_deviation_for_each_channel_or_one_for_all) {
  Graph graph = network("cnn").build({32, 32, 3}, 10);
  apply({.means = {10, 20, 30}, .deviations = {2, 4, 8}}, graph);
  const Attributes& input = graph.nodes.front().attributes;
  EXPECT_EQ(input.number("mean"), 10);
  EXPECT_EQ(input.number("mean2"), 30);
  EXPECT_EQ(input.number("scale1"), 0.25);
  apply({.means = {7}}, graph);
  EXPECT_EQ(input.number("mean1"), 7);
  EXPECT_EQ(input.number("scale2"), 0.125);
}

TEST(HostileChanges, what_cannot_be_is_refused) {
  Graph graph = residual();
  expect_error([&] { apply({.init = "hee"}, graph); }, {"no start of weights 'hee'", "mean he?"});
  expect_error([&] { apply({.smoothing = 1}, graph); }, {"label smoothing", "below 1, not 1"});
  expect_error([&] { apply({.means = {1, 2, 3}}, graph); }, {"3 means", "1 channel;"});
  expect_error([&] { apply({.deviations = {0}}, graph); }, {"deviation must be above 0"});
  Graph plain = network("lenet").build({28, 28, 1}, 10);
  expect_error([&] { apply({.zero_gamma = true}, plain); }, {"lenet", "no residual branch"});
}

TEST(UnitTrainRecipe, another_optimizer_starts_from_its_own_defaults) {
  const TrainRecipe adam = with_optimizer(network("lenet").recipe(), "adamw");
  EXPECT_EQ(adam.schedule.policy, "fixed");
  EXPECT_EQ(LearningRate(adam.schedule).at(7), 0.001);
  const UpdateSettings settings = update_settings(adam);
  EXPECT_EQ(settings.momentum, 0.9);
  EXPECT_EQ(settings.beta2, 0.999);
  EXPECT_EQ(settings.decay, 0.01);
  expect_error([] { with_optimizer({}, "sgdd"); }, {"no optimizer 'sgdd'"});
}

TEST(UnitTrainRecipe, epochs_become_steps) {
  TrainRecipe recipe{.schedule = {.policy = "cosine", .rate = 1}, .warmup_epochs = 0.5};
  const LearningRate rate(schedule_of(recipe, 10, 105));
  EXPECT_EQ(rate.schedule().warmup, 5U);
  EXPECT_EQ(rate.schedule().max_steps, 105U);
  EXPECT_DOUBLE_EQ(rate.at(55), 0.5);
  expect_error([&] { schedule_of(recipe, 10, 0); }, {"cosine", "epochs or steps"});
}

TEST(UnitPresets, each_names_what_there_is_and_says_how_long) {
  EXPECT_GE(presets().size(), 16U);
  for (const Preset* row : presets()) {
    const TrainRecipe& recipe = row->recipe();
    const Network& net = network(row->network());
    Graph graph = net.build(net.published_input(), net.published_classes());
    apply(recipe.changes, graph);
    EXPECT_NO_THROW(feedrate::loader::recipe(row->augmentation())) << row->name();
    EXPECT_NO_THROW(optimizer(recipe.update.optimizer)) << row->name();
    EXPECT_TRUE((recipe.length.steps > 0) != (recipe.length.epochs > 0)) << row->name();
    const std::uint64_t steps =
        recipe.length.steps > 0 ? recipe.length.steps : 100 * recipe.length.epochs;
    EXPECT_GT(LearningRate(schedule_of(recipe, 100, steps)).at(steps / 2), 0) << row->name();
  }
}

TEST(UnitPresets, the_comparison_of_2018_is_as_it_was_printed) {
  struct Case {
    std::string_view name;
    std::uint32_t batch;
    std::uint64_t steps;
    double rate;
  };
  for (const Case& printed : {Case{"2018-lenet", 64, 938, 0.01},
                              {"2018-cifar-alexnet", 128, 390, 0.01},
                              {"2018-cifar-resnet50", 128, 390, 0.1},
                              {"2018-cifar-googlenet", 128, 390, 0.1},
                              {"2018-cifar-vgg16", 128, 390, 0.01},
                              {"2018-alexnet", 128, 300, 0.01},
                              {"2018-resnet50", 8, 300, 0.1},
                              {"2018-googlenet", 8, 300, 0.1},
                              {"2018-vgg16", 8, 300, 0.01}}) {
    const TrainRecipe& recipe = preset(printed.name).recipe();
    EXPECT_EQ(recipe.batch, printed.batch) << printed.name;
    EXPECT_EQ(recipe.length.steps, printed.steps) << printed.name;
    EXPECT_EQ(LearningRate(recipe.schedule).at(0), printed.rate) << printed.name;
    EXPECT_EQ(LearningRate(recipe.schedule).at(recipe.length.steps), printed.rate) << printed.name;
  }
}

}  // namespace
}  // namespace feedrate::trainer
