#include "trainer/graph/graph.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace feedrate::trainer {
namespace {

using testing::expect_error;

TEST(UnitGraph, nodes_are_named_after_their_op_and_a_number) {
  Builder b("small", {8, 8, 1}, 2);
  auto x = b.conv(b.input(1), 3, 3, 1, 1, {});
  x = b.conv(b.relu(x), 4, 3, 1, 0, {.name = "last"});
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"input", "conv1", "relu1", "last", "dense1", "loss"}));
  ASSERT_EQ(graph.parameters.size(), 6U);
  EXPECT_EQ(graph.parameters[2].name, "last.weight");
  EXPECT_EQ(graph.parameters[2].shape, (std::vector<std::int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(graph.nodes[3].extent, (Extent{4, 6, 6}));
}

TEST(UnitGraph, a_bias_takes_the_scales_of_its_layer_and_a_weight_does_not) {
  Builder b("small", {4, 4, 1}, 2);
  const Graph graph =
      b.softmax_loss(b.dense(b.input(1), 2, {.bias_rate_scale = 2, .bias_decay_scale = 0}));
  EXPECT_EQ(graph.parameters[0].rate_scale, 1);
  EXPECT_EQ(graph.parameters[0].decay_scale, 1);
  EXPECT_EQ(graph.parameters[1].rate_scale, 2);
  EXPECT_EQ(graph.parameters[1].decay_scale, 0);
}

TEST(UnitGraph, macs_of_a_strided_padded_conv_count_its_outputs) {
  Builder b("small", {7, 9, 3}, 2);
  const auto x = b.conv(b.input(1), 4, 3, 2, 1, {});
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  EXPECT_EQ(graph.nodes[1].extent, (Extent{4, 4, 5}));
  EXPECT_EQ(graph.macs(), 4U * 4 * 5 * 3 * 9 + 80 * 2);
}

TEST(UnitGraph, running_statistics_are_parameters_that_are_not_learned) {
  Builder b("small", {7, 9, 3}, 2);
  const auto x = b.batch_norm(b.conv(b.input(1), 4, 3, 1, 1, {.no_bias = true}), {.weight = 0.5});
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  ASSERT_EQ(graph.parameters.size(), 7U);
  EXPECT_EQ(graph.parameters[3].name, "batch_norm1.running_mean");
  EXPECT_FALSE(graph.parameters[3].learned || graph.parameters[4].learned);
  EXPECT_EQ(graph.parameters[1].init.value, 0.5);
  EXPECT_EQ(graph.parameters[4].init.value, 1);
  EXPECT_EQ(graph.parameter_count(), 4 * 27 + 8 + 2 * 252 + 2);
}

TEST(UnitGraph, a_grouped_conv_sees_its_share_of_the_channels) {
  Builder b("small", {5, 5, 1}, 2);
  const auto x = b.conv(b.conv(b.input(1), 6, 1, 1, 0, {}), 4, 3, 1, 1, {.groups = 2});
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  EXPECT_EQ(graph.parameters[2].shape, (std::vector<std::int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(graph.macs(), 25U * 6 + 25 * 4 * 3 * 9 + 100 * 2);
}

TEST(UnitGraph, pooling_drops_a_partial_window_unless_told_to_round_up) {
  Builder b("small", {8, 8, 1}, 2);
  const auto in = b.input(1);
  const auto floor = b.max_pool(in, 3, 2);
  const auto ceil = b.add("max_pool", {floor}, {{"kernel", 2}, {"stride", 2}, {"ceil", 1}}, {});
  const Graph graph = b.softmax_loss(b.dense(ceil, 2, {}));
  EXPECT_EQ(graph.nodes[1].extent, (Extent{1, 3, 3}));
  EXPECT_EQ(graph.nodes[2].extent, (Extent{1, 2, 2}));
}

TEST(UnitGraph, a_window_that_rounds_up_never_starts_in_the_trailing_pad) {
  Builder b("small", {5, 5, 1}, 2);
  const auto x =
      b.add("max_pool", {b.input(1)}, {{"kernel", 2}, {"stride", 3}, {"pad", 1}, {"ceil", 1}}, {});
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  EXPECT_EQ(graph.nodes[1].extent, (Extent{1, 2, 2}));
}

TEST(HostileGraph, a_kernel_larger_than_the_image_names_network_and_node) {
  expect_error(
      [] {
        Builder b("small", {4, 4, 1}, 2);
        b.conv(b.input(1), 3, 5, 1, 0, {});
      },
      {"network small", "conv1", "5", "4"});
}

TEST(HostileGraph, logits_of_another_number_than_the_classes_are_refused) {
  expect_error(
      [] {
        Builder b("small", {4, 4, 1}, 10);
        b.softmax_loss(b.dense(b.input(1), 7, {}));
      },
      {"loss", "7", "10 classes"});
}

TEST(HostileGraph, a_value_that_nothing_reads_is_refused) {
  expect_error(
      [] {
        Builder b("small", {4, 4, 1}, 2);
        const auto in = b.input(1);
        b.relu(in);
        b.softmax_loss(b.dense(in, 2, {}));
      },
      {"relu1", "nothing reads"});
}

TEST(HostileGraph, a_second_loss_that_is_not_auxiliary_is_refused) {
  expect_error(
      [] {
        Builder b("small", {4, 4, 1}, 2);
        const auto x = b.dense(b.input(1), 2, {});
        b.add("softmax_loss", {x}, {{"classes", 2}}, {});
        b.softmax_loss(x);
      },
      {"softmax_loss1", "nothing reads"});
}

TEST(UnitGraph, what_leads_to_an_auxiliary_head_alone_is_there_in_training_alone) {
  Builder b("small", {4, 4, 1}, 2);
  const auto x = b.relu(b.input(1));
  b.auxiliary_loss(b.dense(b.relu(x), 2, {}), 0.5);
  const Graph graph = b.softmax_loss(b.dense(x, 2, {}));
  EXPECT_EQ(graph.training_only(),
            (std::vector<bool>{false, false, true, true, true, false, false}));
}

TEST(HostileGraph, senseless_attributes_are_refused) {
  Builder b("small", {4, 4, 1}, 2);
  const auto in = b.input(1);
  expect_error([&] { b.conv(in, 0, 3, 1, 0, {}); }, {"filters", "at least 1"});
  expect_error([&] { b.conv(in, 1, 3, 0, 0, {}); }, {"stride", "at least 1"});
  expect_error([&] { b.max_pool(in, 2, 2, 2); }, {"pad of 2"});
  expect_error([&] { b.dropout(in, 1); }, {"share", "below 1"});
  expect_error([&] { b.dense(in, std::int64_t{1} << 25, {}); }, {"units", "below 16777216"});
  expect_error([&] { b.add("dense", {in}, {{"units", 1.5}}, {}); }, {"whole number", "1.5"});
  expect_error([&] { b.add("dense", {99}, {{"units", 2}}, {}); }, {"does not exist"});
  expect_error([&] { b.add("dense", {in, in}, {{"units", 2}}, {}); }, {"1 input, not 2"});
  expect_error([&] { b.conv(in, 3, 3, 1, 0, {.groups = 2}); }, {"2 groups", "1 channels"});
  expect_error([&] { b.batch_norm(in, {.epsilon = 0}); }, {"epsilon", "above 0"});
  expect_error([&] { b.batch_norm(in, {.momentum = 1.5}); }, {"momentum", "0 to 1"});
  expect_error([&] { b.add("avg_pool", {in}, {{"bins", 5}}, {}); }, {"5 bins", "4x4"});
  expect_error([&] { b.sum(in, b.conv(in, 1, 3, 1, 0, {})); }, {"cannot add 1x2x2 to 1x4x4"});
  expect_error([&] { b.add("add", {in}, {}, {}); }, {"2 inputs, not 1"});
  expect_error([&] { b.shortcut(b.conv(in, 4, 1, 1, 0, {}), 3, 2); }, {"filters", "at least 4"});
  expect_error([&] { b.lrn(in, {.size = 4}); }, {"size", "odd"});
  expect_error([&] { b.lrn(in, {.k = 0}); }, {"'k'", "above 0"});
  expect_error([&] { b.concat({in}); }, {"2 inputs or more, not 1"});
  expect_error([&] { b.concat({in, b.max_pool(in, 2, 2)}); }, {"2x2", "with 4x4"});
  expect_error([&] { b.auxiliary_loss(b.dense(in, 2, {}), 0); }, {"weight", "above 0"});
  expect_error([&] { b.add("dence", {in}, {{"units", 2}}, {}); }, {"did you mean dense?"});
}

TEST(HostileGraph, two_nodes_of_one_name_are_refused) {
  Builder b("small", {4, 4, 1}, 2);
  const auto x = b.dense(b.input(1), 2, {.name = "twin"});
  expect_error([&] { b.dense(x, 2, {.name = "twin"}); }, {"two nodes are named 'twin'"});
}

}  // namespace
}  // namespace feedrate::trainer
