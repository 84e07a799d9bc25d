#include "trainer/graph/roofline.h"

#include <gtest/gtest.h>

#include "trainer/networks/network.h"

namespace feedrate::trainer {
namespace {

std::size_t node(const Plan& plan, std::string_view name) {
  std::size_t i = 0;
  while (plan.graph.nodes.at(i).name != name) ++i;
  return i;
}

// LeNet's second convolution: 20 × 12 × 12 → 50 × 8 × 8 by 5 × 5, computed by hand.
TEST(UnitRoofline, a_convolution_counts_its_products_and_every_value_once_a_way) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  const NodeWork work = count_work(plan)[node(plan, "conv2")];
  const double macs = 64.0 * 50 * 8 * 8 * 20 * 5 * 5;
  const double in = 64.0 * 20 * 12 * 12, out = 64.0 * 50 * 8 * 8, weights = 50 * 20 * 25 + 50;
  EXPECT_EQ(work.forward.flops, 2 * macs);
  EXPECT_EQ(work.forward.bytes, 4 * (in + weights + out));
  EXPECT_EQ(work.backward.flops, 4 * macs);
  EXPECT_EQ(work.backward.bytes, 4 * (out + in + weights + in + weights));
}

TEST(UnitRoofline, in_16_bits_only_the_gradients_of_parameters_stay_wide) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  const NodeWork work = count_work(plan, 2)[node(plan, "conv2")];
  const double in = 64.0 * 20 * 12 * 12, out = 64.0 * 50 * 8 * 8, weights = 50 * 20 * 25 + 50;
  EXPECT_EQ(work.forward.bytes, 2 * (in + weights + out));
  EXPECT_EQ(work.backward.bytes, 2 * (out + in + weights + in) + 4 * weights);
}

TEST(UnitRoofline, nobody_wants_the_gradient_of_the_pixels) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  const NodeWork work = count_work(plan)[node(plan, "conv1")];
  EXPECT_EQ(work.backward.flops, work.forward.flops);
  const NodeWork input = count_work(plan)[0];
  EXPECT_EQ(input.forward.bytes, 64.0 * 28 * 28 * (1 + 4));
  EXPECT_EQ(input.backward.bytes, 0);
}

TEST(UnitRoofline, the_forward_products_of_all_nodes_are_the_published_multiply_adds) {
  for (const Network* one : networks()) {
    const Plan plan = make_plan(one->build(one->published_input(), one->published_classes()), 1);
    double flops = 0;
    for (const NodeWork& work : count_work(plan)) flops += work.forward.flops;
    EXPECT_EQ(flops, 2 * static_cast<double>(plan.graph.macs())) << one->name();
  }
}

TEST(UnitRoofline, the_slower_of_arithmetic_and_memory_decides) {
  const Roof roof{.flops = 100, .bytes = 10};
  EXPECT_EQ((Work{1000, 10}.least_seconds(roof)), 10);
  EXPECT_EQ((Work{1000, 1000}.least_seconds(roof)), 100);
}

}  // namespace
}  // namespace feedrate::trainer
