#include "trainer/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/expect_error.h"

namespace feedrate {
namespace {

using testing::expect_error;

struct Counts {
  std::int64_t parameters;
  std::uint64_t macs;
};
// What the networks' own authors publish, or what their definition files add up to.
const std::map<std::string_view, Counts> published = {
    {"lenet", {431080, 2293000}},
    {"mlp", {669706, 668672}},
    {"resnet50:cifar", {755802, 111329920}},
    {"resnet56", {853018, 125485696}},
    {"vgg16:cifar", {33638218, 332111872}},
    {"vgg16:cifar-bn", {14728266, 313201664}},
};

TEST(ConformanceNetworks, every_network_has_its_published_counts_to_the_last_digit) {
  for (const Network* row : networks()) {
    ASSERT_TRUE(published.contains(row->name())) << row->name() << " has no published counts here";
    const Graph graph = row->build(row->published_input(), row->published_classes());
    EXPECT_EQ(graph.parameter_count(), published.at(row->name()).parameters) << row->name();
    EXPECT_EQ(graph.macs(), published.at(row->name()).macs) << row->name();
    EXPECT_EQ(graph.network, row->name());
  }
}

TEST(ConformanceNetworks, every_recipe_has_a_rate_at_its_first_step) {
  for (const Network* row : networks()) {
    const TrainRecipe recipe = row->recipe();
    EXPECT_GT(recipe.batch, 0U) << row->name();
    EXPECT_GT(recipe.schedule.at(0), 0) << row->name();
  }
}

TEST(ConformanceNetworks, networks_take_colour_other_sizes_and_other_class_counts) {
  for (const Network* row : networks()) {
    const Shape usual = row->published_input();
    const Graph graph = row->build({usual.height + 12, usual.width + 8, 3}, 47);
    EXPECT_EQ(graph.nodes.back().extent.elements(), 47) << row->name();
  }
}

TEST(UnitLenet, is_trained_as_caffe_trains_it) {
  const Network& lenet = network("lenet");
  const TrainRecipe recipe = lenet.recipe();
  EXPECT_EQ(recipe.batch, 64U);
  EXPECT_EQ(recipe.momentum, 0.9);
  EXPECT_EQ(recipe.decay, 5e-4);
  EXPECT_DOUBLE_EQ(recipe.schedule.at(0), 0.01);
  EXPECT_DOUBLE_EQ(recipe.schedule.at(10000), 0.01 * std::pow(2.0, -0.75));
  for (const Parameter& parameter : lenet.build({28, 28, 1}, 10).parameters) {
    const bool bias = parameter.name.ends_with("bias");
    EXPECT_EQ(parameter.rate_scale, bias ? 2 : 1) << parameter.name;
    EXPECT_EQ(parameter.decay_scale, 1) << parameter.name;
  }
}

TEST(HostileNetworks, an_image_too_small_for_lenet_is_refused_by_name) {
  expect_error([] { network("lenet").build({12, 12, 1}, 10); }, {"network lenet", "conv2"});
}

TEST(HostileNetworks, an_unknown_network_gets_the_nearest_name) {
  expect_error([] { network("lenett"); }, {"no network 'lenett'", "did you mean lenet?"});
}

}  // namespace
}  // namespace feedrate
