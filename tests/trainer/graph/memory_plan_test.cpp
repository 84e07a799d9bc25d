#include "trainer/graph/memory_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loader/order/sample_draws.h"
#include "tests/support/expect_error.h"
#include "trainer/graph/op.h"
#include "trainer/graph/places.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using testing::expect_error;

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

void expect_sound(const std::vector<Lifetime>& lives, const std::vector<std::size_t>& sizes,
                  const Arena& arena) {
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    EXPECT_EQ(arena.offsets[a] % 64, 0U);
    EXPECT_LE(arena.offsets[a] + sizes[a], arena.bytes);
    for (std::size_t b = a + 1; b < sizes.size(); ++b) {
      if (sizes[a] == 0 || sizes[b] == 0 || !meet(lives[a], lives[b])) continue;
      const bool apart = arena.offsets[a] + sizes[a] <= arena.offsets[b] ||
                         arena.offsets[b] + sizes[b] <= arena.offsets[a];
      EXPECT_TRUE(apart) << "blocks " << a << " and " << b << " overlap";
    }
  }
}

TEST(UnitArena, blocks_that_never_meet_share_their_place) {
  const std::vector<Lifetime> lives = {{0, 1}, {2, 3}};
  const std::vector<std::size_t> sizes = {100, 80};
  const Arena arena = plan_arena(lives, sizes);
  EXPECT_EQ(arena.offsets, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(arena.bytes, 100U);
}

TEST(UnitArena, random_blocks_never_overlap_while_they_live) {
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    std::vector<Lifetime> lives;
    std::vector<std::size_t> sizes;
    std::size_t peak_needed = 0;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const std::size_t first = below(random_bits(trial, 3 * i), 30);
      lives.push_back({first, first + below(random_bits(trial, 3 * i + 1), 12)});
      sizes.push_back(below(random_bits(trial, 3 * i + 2), 5) * 320);
    }
    const Arena arena = plan_arena(lives, sizes);
    expect_sound(lives, sizes, arena);
    for (std::size_t moment = 0; moment < 42; ++moment) {
      std::size_t alive = 0;
      for (std::size_t i = 0; i < 40; ++i) {
        if (lives[i].first <= moment && moment <= lives[i].last) alive += sizes[i];
      }
      peak_needed = std::max(peak_needed, alive);
    }
    EXPECT_GE(arena.bytes, peak_needed);
    EXPECT_LE(arena.bytes, 2 * peak_needed);
  }
}

TEST(UnitPlan, activations_live_until_backward_has_read_them) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  // 0 input, 1 conv1, 2 max_pool1, 3 conv2, 4 max_pool2, 5 dense1, 6 relu1, 7 dense2, 8 loss
  const std::size_t end = 2 * plan.graph.nodes.size() - 1;
  ASSERT_EQ(end, 17U);
  EXPECT_EQ(plan.activations[0].last, end - 1);  // conv1's backward reads the pixels
  EXPECT_EQ(plan.activations[1].last, 2U);       // pooling saves the winners instead
  EXPECT_EQ(plan.activations[2].last, end - 3);
  EXPECT_EQ(plan.gradients[2].first, end - 3);
  EXPECT_EQ(plan.gradients[2].last, end - 2);
}

TEST(UnitPlan, relu_and_softmax_work_in_their_inputs_memory) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  EXPECT_EQ(plan.activation_buffers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 5, 7, 7}));
  EXPECT_EQ(plan.gradient_buffers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 6, 6, 7, 8}));
  // The shared buffer lives until its last reader, dense1, which may compute the relu.
  EXPECT_EQ(plan.activations[5].last, 17U - 5);
  EXPECT_EQ(plan.gradients[6].last, 17U - 5);
}

TEST(UnitPlan, nothing_is_overwritten_that_backward_still_reads) {
  const Plan plan = make_plan(network("mlp").build({28, 28, 1}, 10), 8);
  // relu's backward reads its output, so the dropout after it needs memory of its own.
  const std::vector<Node>& nodes = plan.graph.nodes;
  ASSERT_EQ(nodes[3].op->name(), "dropout");
  EXPECT_EQ(plan.activation_buffers[2], 1U);
  EXPECT_EQ(plan.activation_buffers[3], 3U);
}

TEST(UnitPlan, where_several_read_a_value_the_last_writes_its_gradient_and_the_others_add) {
  Builder b("branches", {4, 4, 1}, 2);
  const auto x = b.conv(b.input(1), 2, 3, 1, 1, {});  // 1, read by 2, 3 and 4
  const auto y = b.conv(x, 2, 3, 1, 1, {});
  const auto z = b.sum(b.sum(b.relu(x), x), y);
  const Plan plan = make_plan(b.softmax_loss(b.dense(z, 2, {})), 4);
  const std::size_t end = 2 * plan.graph.nodes.size() - 1;
  using Adds = std::vector<bool>;
  EXPECT_EQ(plan.adds[4], (Adds{false, false}));  // relu(x) and x
  EXPECT_EQ(plan.adds[3], Adds{true});
  EXPECT_EQ(plan.adds[2], Adds{true});
  EXPECT_EQ(plan.gradients[1].first, end - 4);
  EXPECT_EQ(plan.gradients[1].last, end - 1);
  // A sum writes into its first input's buffer, unless backward still reads that (as relu's
  // output). relu does not here, because other nodes read the value that it would change.
  EXPECT_EQ(plan.activation_buffers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 4, 6, 6}));
  const Places places =
      place_all(plan, {std::vector<std::size_t>(8, 64), {0, 0, 0, 0, 0, 0, 0, 0}}, 64);
  ASSERT_EQ(places.sums[2].size(), 1U);
  EXPECT_EQ(places.sums[2][0].input, 1U);
  EXPECT_NE(places.sums[2][0].part, places.gradients[1]);
  EXPECT_EQ(places.sums[2][0].part, places.input_gradients[2][0]);
  EXPECT_EQ(places.input_gradients[4][1], places.gradients[1]);
  EXPECT_TRUE(places.sums[4].empty());
}

TEST(UnitPlan, nothing_before_the_first_parameter_learns) {
  Builder b("late", {4, 4, 1}, 2);
  const Plan plan = make_plan(b.softmax_loss(b.dense(b.relu(b.input(1)), 2, {})), 4);
  EXPECT_EQ(plan.learns, (std::vector<bool>{false, false, true, true}));
  EXPECT_FALSE(plan.has_gradient(1));
  EXPECT_TRUE(plan.has_gradient(2));
  EXPECT_FALSE(plan.has_gradient(3));  // of the loss
}

TEST(UnitInitialValues, are_a_pure_function_of_seed_number_and_element) {
  const Parameter parameter{.name = "w", .shape = {20, 1, 5, 5}, .init = {Init::Rule::xavier, 0}};
  const std::vector<float> values = initial_values(parameter, 3, 7);
  EXPECT_EQ(values, initial_values(parameter, 3, 7));
  EXPECT_NE(values, initial_values(parameter, 4, 7));
  EXPECT_NE(values, initial_values(parameter, 3, 8));
  // The definition, which tests/trainer/parity/make_parity.py repeats.
  const double unit = double{unit_float(random_bits(mix64(mix64(7) + 3), 11))};
  EXPECT_EQ(values[11], static_cast<float>((2 * unit - 1) * std::sqrt(3.0 / 25)));
}

TEST(UnitInitialValues, have_the_spread_their_rule_says) {
  const auto deviation = [](const Init& init, std::vector<std::int64_t> shape) {
    const Parameter parameter{.name = "w", .shape = std::move(shape), .init = init};
    double sum = 0, squares = 0;
    const std::vector<float> values = initial_values(parameter, 0, 1);
    for (const float v : values) sum += v, squares += double{v} * v;
    const double n = static_cast<double>(values.size());
    EXPECT_NEAR(sum / n, init.rule == Init::Rule::constant ? init.value : 0, 0.01);
    return std::sqrt(std::max(0.0, squares / n - sum / n * sum / n));
  };
  EXPECT_NEAR(deviation({Init::Rule::xavier, 0}, {500, 800}), 1 / std::sqrt(800.0), 1e-4);
  EXPECT_NEAR(deviation({Init::Rule::glorot_uniform, 0}, {50, 20, 5, 5}),
              std::sqrt(2.0 / (500 + 1250)), 1e-3);
  EXPECT_NEAR(deviation({Init::Rule::gaussian, 0.5}, {100000}), 0.5, 0.005);
  EXPECT_NEAR(deviation({Init::Rule::he_normal, 0}, {50, 20, 5, 5}), std::sqrt(2.0 / 500), 1e-3);
  EXPECT_NEAR(deviation({Init::Rule::he_fan_out, 0}, {50, 20, 5, 5}), std::sqrt(2.0 / 1250), 1e-3);
  EXPECT_NEAR(deviation({Init::Rule::uniform, 0.6}, {100000}), 0.6 / std::sqrt(3.0), 0.005);
  EXPECT_NEAR(deviation({Init::Rule::uniform_fan_in, 0}, {500, 800}), 1 / std::sqrt(2400.0), 1e-4);
  EXPECT_EQ(deviation({Init::Rule::constant, 0.1}, {64}), 0);
}

TEST(HostilePlan, a_batch_of_nothing_is_refused) {
  expect_error([] { make_plan(network("mlp").build({28, 28, 1}, 10), 0); }, {"batch of 0"});
}

}  // namespace
}  // namespace feedrate::trainer
