#include "tools/lab/report/study/comparison.h"

#include <gtest/gtest.h>

#include "tests/support/in_text.h"
#include "tests/tools/noise.h"
#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

using testing::delivered;
using testing::demand;
using testing::spread;
using testing::supply;

TEST(UnitComparison, a_point_is_faster_or_slower_only_beyond_what_its_repeats_explain) {
  const Comparison found = compare(
      {supply("lmdb", 1, 1000), supply("lmdb", 2, 1000), spread(supply("lmdb", 4, 1000), 30)},
      {supply("lmdb", 1, 1100), supply("lmdb", 2, 900), spread(supply("lmdb", 4, 1100), 30)});
  ASSERT_EQ(found.points.size(), 3U);
  EXPECT_EQ(found.points[0].change(), Change::faster);
  EXPECT_EQ(found.points[1].change(), Change::slower);
  EXPECT_EQ(found.points[2].change(), Change::none);
  EXPECT_NEAR(found.points[0].ratio(), 1.1, 1e-9);
  EXPECT_TRUE(testing::has(found.summary(),
                           "Did it get faster? In part. Of 3 points in both files, 1 is "
                           "faster, 1 slower, 1 without a difference"))
      << found.summary();
}

TEST(UnitComparison, among_many_points_that_did_not_change_none_is_called_changed_by_chance) {
  testing::Noise noise(1);
  const auto file = [&](double faster) {
    std::vector<Row> rows;
    for (unsigned threads = 1; threads <= 30; ++threads) {
      rows.push_back(supply("lmdb", threads, 1000));
      for (double& rate : rows.back().repeats) {
        rate = 1000 * (threads <= 15 ? faster : 1) * noise.factor(0.03);
      }
    }
    return rows;
  };
  constexpr unsigned comparisons = 100;
  unsigned wrong = 0, told = 0, false_ones = 0;
  for (unsigned i = 0; i < comparisons; ++i) {
    wrong += compare(file(1), file(1)).count(Change::none) < 30;
    const Comparison found = compare(file(1), file(1.5));
    for (const ComparedPoint& point : found.points) {
      if (point.change() == Change::none) continue;
      ++told;
      false_ones += *point.threads > 15;
    }
  }
  EXPECT_LE(wrong, comparisons / 10);  // 5 are expected
  EXPECT_GE(told, 15 * comparisons * 95 / 100);
  EXPECT_LE(false_ones, told / 10);
}

TEST(UnitComparison,
     points_that_did_not_change_stay_so_where_one_file_has_few_repeats_and_one_many) {
  testing::Noise noise(2);
  const auto file = [&](std::size_t repeats) {
    std::vector<Row> rows;
    for (unsigned threads = 1; threads <= 30; ++threads) {
      rows.push_back(supply("lmdb", threads, 1000));
      rows.back().repeats.clear();
      for (std::size_t i = 0; i < repeats; ++i) {
        rows.back().repeats.push_back(1000 * noise.factor(0.03));
      }
    }
    return rows;
  };
  constexpr unsigned comparisons = 100;
  for (const std::size_t few : {2, 3}) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < comparisons; ++i) {
      const bool is_before = i % 2 == 0;
      wrong +=
          compare(file(is_before ? few : 10), file(is_before ? 10 : few)).count(Change::none) < 30;
    }
    EXPECT_LE(wrong, comparisons / 10) << few;
  }
}

TEST(UnitComparison, a_single_repeat_leaves_the_answer_open) {
  auto once = supply("lmdb", 1, 2000);
  once.repeats = {2000};
  const Comparison found = compare({supply("lmdb", 1, 1000)}, {once});
  EXPECT_EQ(found.points.at(0).change(), Change::unknown);
  EXPECT_TRUE(testing::has(found.summary(), "faster? Not known. ")) << found.summary();
}

TEST(UnitComparison, points_with_a_single_repeat_do_not_make_others_harder_to_tell) {
  auto before = supply("lmdb", 1, 1000), after = supply("lmdb", 1, 1040);
  before.repeats = {990, 1000, 1010};
  after.repeats = {1030, 1040, 1050};
  std::vector<Row> all_before{before}, all_after{after};
  for (unsigned threads = 2; threads <= 30; ++threads) {
    auto once = supply("lmdb", threads, 1000);
    once.repeats = {1000};
    all_before.push_back(once);
    all_after.push_back(once);
  }
  const Comparison found = compare(all_before, all_after);
  EXPECT_EQ(found.points.at(0).change(), Change::faster);
  EXPECT_EQ(found.count(Change::unknown), 29U);
}

TEST(UnitComparison, only_points_of_the_same_images_and_options_are_compared) {
  auto other_images = supply("lmdb", 2, 1000), other_format = demand(100);
  other_images.digest = "d2";
  other_format.format = "recordio";  // a trainer alone reads no format
  const Comparison found =
      compare({demand(100), supply("lmdb", 2, 1000), delivered("lmdb", 2, 90, 1)},
              {other_format, other_images, delivered("lmdb", 4, 90, 1)});
  ASSERT_EQ(found.points.size(), 1U);
  EXPECT_EQ(found.points[0].kind, demand_kind);
  EXPECT_EQ(found.only_before, 2U);
  EXPECT_EQ(found.only_after, 2U);
  EXPECT_TRUE(compare({supply("lmdb", 1, 1)}, {supply("lmdb", 2, 1)}).points.empty());
}

TEST(UnitComparison, datasets_that_are_stored_alike_are_not_pooled) {
  auto slow = supply("lmdb", 1, 1000), fast = supply("lmdb", 1, 4000);
  slow.dataset = "disk/lmdb";
  fast.dataset = "./memory/lmdb/";
  auto faster = fast;
  faster.dataset = "memory/lmdb";
  for (double& rate : faster.repeats) rate *= 2;
  const Comparison found = compare({slow, fast}, {slow, faster});
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[0].format, "lmdb × raw (disk/lmdb)");
  EXPECT_EQ(found.points[0].change(), Change::none);
  EXPECT_EQ(found.points[1].format, "lmdb × raw (memory/lmdb)");
  EXPECT_NEAR(found.points[1].ratio(), 2, 1e-9);
  // One that has moved is still the same.
  EXPECT_EQ(compare({slow}, {fast}).points.at(0).format, "lmdb × raw");
}

TEST(UnitComparison, another_machine_and_the_doubts_of_each_file_are_told) {
  auto after = supply("lmdb", 1, 1000);
  EXPECT_TRUE(compare({after}, {after}).doubts.empty());
  after.environment.cpu = "a second processor";
  after.environment.build_type = "Debug";
  const auto doubts = compare({supply("lmdb", 1, 1000)}, {after}).doubts;
  ASSERT_EQ(doubts.size(), 2U);
  EXPECT_TRUE(testing::has(doubts[0], "different machines"));
  EXPECT_TRUE(testing::has(doubts[1], "After: Measured with a Debug build"));
}

}  // namespace
}  // namespace feedrate::tools
