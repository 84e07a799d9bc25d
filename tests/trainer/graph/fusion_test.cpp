#include "trainer/graph/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/expect_error.h"
#include "trainer/graph/passes.h"
#include "trainer/graph/places.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
namespace {

constexpr Fusions none{.norm_sum = false,
                       .sum_gradient = false,
                       .relu_gradient = false,
                       .weight_branch = false,
                       .early_kernels = false};

constexpr Fusions on_cpu{.relu_gradient = false, .weight_branch = false, .by_last_norm = true};

Plan plan_of(std::string_view name, std::uint32_t batch) {
  const Network& row = network(name);
  return make_plan(row.build(row.published_input(), row.published_classes()), batch);
}

TEST(UnitFusion, resnet50_has_sixteen_block_ends_and_the_other_norms_do_their_relus) {
  Plan plan = plan_of("resnet50", 8);
  const Fused fused = fuse(plan, {});
  ASSERT_EQ(fused.block_ends.size(), 16U);
  std::size_t projections = 0, terms = 0;
  for (const BlockEnd& end : fused.block_ends) {
    EXPECT_TRUE(end.forward && end.backward);
    EXPECT_NE(end.norms[0], no_node);
    projections += end.norms[1] != no_node;
    terms += end.term_reader != no_node;
  }
  EXPECT_EQ(projections, 4U);
  EXPECT_EQ(terms, 15U) << "only the mean over the image reads the last one";
  EXPECT_EQ(fused.aliases.size(), 16U);
  for (const Alias& alias : fused.aliases) {
    EXPECT_EQ(alias.added_after, no_node)
        << "each is the second term of a block end, or a norm's own";
  }
  EXPECT_EQ(std::ranges::count(fused.masked_norms, true), 33);
}

TEST(UnitFusion, on_the_cpu_the_norm_right_before_a_sum_computes_the_end_of_its_block) {
  Plan plan = plan_of("resnet50", 8);
  const Fused fused = fuse(plan, on_cpu);
  ASSERT_EQ(fused.block_ends.size(), 16U);
  for (const BlockEnd& end : fused.block_ends) {
    EXPECT_EQ(end.last_norm, end.sum - 1);
    EXPECT_EQ(end.last_norm, end.has_two_norms() ? end.norms[1] : end.norms[0]);
  }
  // In resnet56, a shortcut without parameters is computed right before two of the sums.
  Plan other = plan_of("resnet56", 8);
  EXPECT_EQ(fuse(other, on_cpu).block_ends.size(), 25U);
}

TEST(UnitFusion, a_sum_that_is_left_out_stays_as_it_is) {
  Plan plan = plan_of("resnet50", 8);
  const std::size_t sum = fuse(plan, on_cpu).block_ends[3].sum;
  Plan again = plan_of("resnet50", 8);
  const std::size_t left_out[] = {sum};
  const Fused fused = fuse(again, on_cpu, left_out);
  EXPECT_EQ(fused.block_ends.size(), 15U);
  EXPECT_EQ(fused.end_of(sum), nullptr);
  EXPECT_EQ(fused.alias_of(sum), nullptr);
}

TEST(UnitFusion, a_step_of_resnet50_makes_fewer_passes) {
  const auto count = [](const Fusions& wanted) {
    Plan plan = plan_of("resnet50", 8);
    const Fused fused = fuse(plan, wanted);
    std::pair<std::size_t, double> sums{};
    for (const Pass& pass : count_passes(plan, fused, "bf16")) {
      ++sums.first;
      sums.second += pass.values / 8 / 1e6;
    }
    return sums;
  };
  const auto [plain_calls, plain_megabytes] = count(none);
  const auto [calls, megabytes] = count({});
  EXPECT_LT(plain_calls, 641U) << "sums finish in the kernel that starts them";
  EXPECT_LE(calls, 450U);
  EXPECT_LE(megabytes, 336) << "a norm and a max_pool in one pass moved less, and took longer";
  EXPECT_GT(plain_megabytes, 450);
}

// What two nodes need at the same time must not share memory, whatever is fused.
TEST(UnitFusion, gradients_need_no_more_memory_than_without) {
  for (const char* name : {"resnet50", "resnet56", "googlenet"}) {
    const auto bytes = [&](const Fusions& wanted) {
      Plan plan = plan_of(name, 4);
      const Fused fused = fuse(plan, wanted);
      NodeBytes of;
      for (const Node& node : plan.graph.nodes) {
        of.outputs.push_back(static_cast<std::size_t>(node.extent.elements()) * 8);
        of.saved.push_back(0);
      }
      return place_all(plan, of, 64, fused).bytes;
    };
    EXPECT_LE(bytes({}), bytes(none)) << name;
    EXPECT_LE(bytes(on_cpu), bytes(none)) << name;
  }
}

TEST(UnitFusion, nothing_is_moved_where_nothing_is_fused) {
  const Plan before = plan_of("resnet50", 8);
  Plan plan = before;
  const Fused fused = fuse(plan, none);
  EXPECT_TRUE(fused.block_ends.empty() && fused.aliases.empty());
  EXPECT_EQ(plan.gradient_buffers, before.gradient_buffers);
  EXPECT_EQ(plan.adds, before.adds);
}

TEST(UnitFusion, fusions_are_turned_off_by_name) {
  setenv("FEEDRATE_UNFUSED", "norm-sum,relu-gradient", 1);
  const Fusions some = fusions_of_environment();
  EXPECT_FALSE(some.norm_sum || some.relu_gradient);
  EXPECT_TRUE(some.sum_gradient);
  setenv("FEEDRATE_UNFUSED", "all", 1);
  const Fusions all = fusions_of_environment();
  EXPECT_FALSE(all.norm_sum || all.relu_gradient || all.sum_gradient);
  setenv("FEEDRATE_UNFUSED", "norm-sun", 1);
  testing::expect_error([] { static_cast<void>(fusions_of_environment()); },
                        {"FEEDRATE_UNFUSED", "norm-sun", "norm-sum"});
  unsetenv("FEEDRATE_UNFUSED");
}

}  // namespace
}  // namespace feedrate::trainer
