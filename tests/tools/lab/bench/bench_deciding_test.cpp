// When a bench goes on to decide. The rates are made up.

#include "tools/lab/bench/deciding.h"

#include <gtest/gtest.h>

#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

/// Two formats, of which the second is slower by these shares in the rounds.
std::vector<Row> rows(std::vector<double> slower) {
  std::vector<Row> all{testing::demand(5000), testing::delivered("lmdb", 1, 1000, 50),
                       testing::delivered("recordio", 1, 1000, 50)};
  all[1].repeats.assign(slower.size(), 1000);
  all[2].repeats.clear();
  for (const double share : slower) all[2].repeats.push_back(1000 * (1 - share));
  all[2].images_per_second = all[2].repeats.front();
  return all;
}

TEST(UnitBenchDeciding, goes_on_while_the_rounds_do_not_carry_a_difference) {
  EXPECT_TRUE(Deciding(60).goes_on(rows({0.2, 0.2}))) << "two rounds say nothing of the noise";
  EXPECT_FALSE(Deciding(60).goes_on(rows({0.2, 0.21, 0.19, 0.2}))) << "each round carries it";
  EXPECT_TRUE(Deciding(60).goes_on(rows({0.5, -0.1, 0.3}))) << "they contradict each other";
  EXPECT_FALSE(Deciding(60).goes_on(rows({0.0, 0.0, 0.0}))) << "as fast";
}

/// One format, fed by these shares of the demand in the rounds.
std::vector<Row> fed(std::vector<double> shares) {
  std::vector<Row> all{testing::demand(1000), testing::delivered("lmdb", 1, 1000, 5),
                       testing::supply("lmdb", 1, 900)};
  all[0].repeats.assign(shares.size(), 1000);
  all[1].repeats.clear();
  for (const double share : shares) all[1].repeats.push_back(1000 * share);
  all[1].images_per_second = all[1].repeats.front();
  return all;
}

TEST(UnitBenchDeciding, ends_once_three_repeats_tell_the_limit) {
  EXPECT_TRUE(Deciding(60).goes_on(fed({0.5, 0.5}))) << "two rounds say nothing of the noise";
  EXPECT_FALSE(Deciding(60).goes_on(fed({0.5, 0.51, 0.49}))) << "the loader is the limit";
  EXPECT_FALSE(Deciding(60).goes_on(fed({1, 1, 0.999}))) << "the trainer is";
  EXPECT_FALSE(Deciding(60).goes_on(fed({0.92, 0.96, 0.93})))
      << "loading costs 5 %, whatever the noise";
}

TEST(UnitBenchDeciding, ends_with_its_budget) {
  EXPECT_FALSE(Deciding(0).goes_on(rows({0.2, 0.2})));
  Deciding short_one(1e-9);
  EXPECT_TRUE(short_one.goes_on(rows({0.2, 0.2})));
  EXPECT_FALSE(short_one.goes_on(rows({0.2, 0.2})));
  EXPECT_LE(short_one.left(), 0);
}

}  // namespace
}  // namespace feedrate::tools
