#include "trainer/networks/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/expect_error.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using testing::expect_error;

constexpr Shape imagenet{224, 224, 3};

struct Counts {
  std::int64_t parameters;
  std::uint64_t macs;
};
// Counts that the authors publish or that follow from their definition files.
const std::map<std::string_view, Counts> published = {
    {"lenet", {431080, 2293000}},
    {"lenet:mxnet", {431080, 2293000}},
    {"lenet:tf", {1663370, 12273152}},
    {"lenet:pytorch", {21840, 480500}},
    {"mlp", {669706, 668672}},
    {"cnn", {1250858, 20741120}},
    {"cnn:mnist", {1199882, 11992448}},
    // 4·128·(28 + 128 + 1) + 128·10 + 10, and 28·4·128·(28 + 128) + 128·10
    {"lstm", {81674, 2237696}},
    {"alexnet", {61100840, 714188480}},
    {"alexnet:caffe", {60965224, 724406816}},
    {"alexnet:cifar", {765738, 26358784}},
    {"alexnet:mxnet", {50844008, 1009945728}},
    {"googlenet:mxnet", {6998552, 1431556352}},
    {"resnet50:mxnet-cifar", {758618, 85638528}},
    {"googlenet", {13004888, 1506748416}},
    {"googlenet:caffe", {13378280, 1591044096}},
    {"googlenet:cifar", {6401870, 32704512}},
    {"resnet50", {25557032, 4089184256}},
    {"resnet50:v1", {25557032, 3857973248}},
    {"vgg16", {138357544, 15470264320}},
    {"vgg16:bn", {138365992, 15470264320}},
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

TEST(ConformanceNetworks, lstm_over_40_of_60_characters_is_keras_lstm_text_generation) {
  const Graph graph = network("lstm").build({40, 60, 1}, 60);
  EXPECT_EQ(graph.parameter_count(), 104508);
  EXPECT_EQ(graph.macs(), 3857920U);
}

TEST(ConformanceNetworks, what_torchvision_makes_of_cifar_has_its_counts) {
  const Graph graph = network("resnet50").build({32, 32, 3}, 10);
  EXPECT_EQ(graph.parameter_count(), 23528522);
  EXPECT_EQ(graph.macs(), 83431424U);
}

// The counts of the nodes that evaluation runs.
Counts without_heads(const Graph& graph) {
  const std::vector<bool> left_out = graph.training_only();
  Counts counts{};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (left_out[i]) continue;
    std::vector<Extent> inputs;
    for (const std::size_t input : node.inputs) inputs.push_back(graph.nodes[input].extent);
    counts.macs += node.op->macs(node.attributes, inputs, node.extent);
    for (const std::size_t p : node.parameters) {
      if (graph.parameters[p].learned) counts.parameters += graph.parameters[p].elements();
    }
  }
  return counts;
}

TEST(ConformanceNetworks, googlenets_have_their_published_counts_without_auxiliary_heads_too) {
  const std::map<std::string_view, Counts> evaluated = {
      {"googlenet", {6624904, 1498376192}},
      {"googlenet:caffe", {6998552, 1582671872}},
  };
  for (const auto& [name, counts] : evaluated) {
    const Counts found = without_heads(network(name).build(imagenet, 1000));
    EXPECT_EQ(found.parameters, counts.parameters) << name;
    EXPECT_EQ(found.macs, counts.macs) << name;
  }
}

TEST(ConformanceNetworks, every_recipe_has_a_rate_at_its_first_step) {
  for (const Network* row : networks()) {
    const TrainRecipe recipe = row->recipe();
    EXPECT_GT(recipe.batch, 0U) << row->name();
    EXPECT_GT(LearningRate(recipe.schedule).at(0), 0) << row->name();
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
  EXPECT_EQ(recipe.update.momentum, 0.9);
  EXPECT_EQ(recipe.update.decay, 5e-4);
  EXPECT_DOUBLE_EQ(LearningRate(recipe.schedule).at(0), 0.01);
  EXPECT_DOUBLE_EQ(LearningRate(recipe.schedule).at(10000), 0.01 * std::pow(2.0, -0.75));
  for (const Parameter& parameter : lenet.build({28, 28, 1}, 10).parameters) {
    const bool bias = parameter.name.ends_with("bias");
    EXPECT_EQ(parameter.rate_scale, bias ? 2 : 1) << parameter.name;
    EXPECT_EQ(parameter.decay_scale, 1) << parameter.name;
  }
}

TEST(HostileNetworks, an_image_too_small_for_lenet_is_refused_by_name) {
  expect_error([] { network("lenet").build({12, 12, 1}, 10); }, {"network lenet", "conv2"});
}

TEST(HostileNetworks, an_image_too_small_for_imagenets_networks_is_told_what_they_are_for) {
  expect_error(
      [] {
        network("alexnet").build({32, 32, 3}, 10);
      },
      {"network alexnet", "max_pool", "32x32x3", "published for 224x224x3"});
}

TEST(HostileNetworks, an_unknown_network_gets_the_nearest_name) {
  expect_error([] { network("lenett"); }, {"no network 'lenett'", "did you mean lenet?"});
}

TEST(ConformanceNetworks, every_network_names_the_loaders_recipe_that_makes_its_images) {
  for (const Network* row : networks()) {
    EXPECT_EQ(usual_augmentation(*row, row->published_input()), row->augmentation()) << row->name();
    EXPECT_EQ(row->augmentation() == "imagenet-train" || row->augmentation() == "caffe",
              row->published_input().height >= 224)
        << row->name();
  }
}

TEST(UnitNetworks, images_of_other_channels_than_published_come_as_stored) {
  const Shape digit{28, 28, 1}, thumbnail{32, 32, 3};
  EXPECT_EQ(usual_augmentation(network("lenet"), thumbnail), "none");
  EXPECT_EQ(usual_augmentation(network("resnet56"), digit), "none");
  EXPECT_EQ(usual_augmentation(network("resnet50"), digit), "imagenet-train");  // makes RGB
}

}  // namespace
}  // namespace feedrate::trainer
