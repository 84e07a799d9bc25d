// Which command measures a point.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/planned.h"

namespace feedrate::tools {
namespace {

TEST(UnitBenchCommand, blocks_of_a_shuffle_are_another_point_of_what_loads) {
  BenchOptions options = two_threads();
  const auto usual = plan_bench(options, two_datasets, 4);
  options.shuffle_blocks = 64;
  const auto blocks = plan_bench(options, two_datasets, 4);
  ASSERT_EQ(blocks.size(), usual.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool loads = blocks[i].row.kind == supply_kind || blocks[i].row.kind == delivered_kind;
    const auto words = blocks[i].command(options);
    EXPECT_EQ(same_point(blocks[i].row, usual[i].row), !loads);
    EXPECT_EQ(std::ranges::count(words, "--shuffle-blocks"), loads ? 1 : 0);
    EXPECT_EQ(blocks[i].title().find(", blocks of 64") != std::string::npos, loads)
        << blocks[i].title();
  }
}

TEST(UnitBenchCommand, compute_is_measured_without_copies_to_the_device) {
  BenchOptions options = two_threads();
  options.devices = {"cuda"};
  options.tools = {"feedrate", "pytorch"};
  const auto points = plan_bench(options, two_datasets, 4);
  EXPECT_EQ(count(points, demand_kind), 2U);
  ASSERT_EQ(count(points, compute_kind), 2U);
  const BenchPoint& point =
      *std::ranges::find(points, compute_kind, [](const BenchPoint& one) { return one.row.kind; });
  EXPECT_EQ(point.title(), "compute of lenet on cuda, fp32, batch 64");
  const auto words = point.command(options);
  EXPECT_EQ(std::ranges::count(words, "--resident"), 1);
  EXPECT_EQ(std::ranges::count(words, "--no-upload"), 1);
  const auto rate = std::ranges::find(words, "--lr");
  ASSERT_LT(rate + 1, words.end());
  EXPECT_EQ(rate[1], "0") << "training could diverge while it is measured";
  feedrate::tools::Row elsewhere = point.row;
  elsewhere.dataset = "b";
  EXPECT_TRUE(same_point(point.row, elsewhere));
  elsewhere.kind = demand_kind;
  EXPECT_FALSE(same_point(point.row, elsewhere));
}

}  // namespace
}  // namespace feedrate::tools
