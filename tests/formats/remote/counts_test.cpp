#include "formats/remote/counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace feedrate::formats {
namespace {

using std::chrono::nanoseconds;

TEST(UnitRemoteCounts, quantiles_are_right_within_6_percent) {
  std::minstd_rand generator(1);
  std::lognormal_distribution<double> some(15, 2);  // 3 ms in the middle, from 1 µs to seconds
  std::vector<double> times;
  Latencies latencies;
  for (int i = 0; i < 20'001; ++i) {
    const nanoseconds took(static_cast<std::int64_t>(some(generator)) + 1);
    times.push_back(1e-9 * static_cast<double>(took.count()));
    latencies.add(took);
  }
  std::ranges::sort(times);
  for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double expected = times[static_cast<std::size_t>(share * 20'000)];
    EXPECT_NEAR(latencies.quantile(share).value() / expected, 1, 0.07) << share;
  }
}

TEST(UnitRemoteCounts, extreme_times_have_a_quantile_and_none_has_none) {
  EXPECT_FALSE(Latencies().quantile(0.5));
  for (const std::int64_t took : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1} << 60}) {
    Latencies one;
    one.add(nanoseconds(took));
    EXPECT_GT(one.quantile(0.5).value(), 0) << took;
    EXPECT_EQ(one.quantile(0), one.quantile(1)) << took;
  }
}

TEST(UnitRemoteCounts, a_difference_has_what_came_between) {
  Latencies before;
  before.add(nanoseconds(1000));
  Latencies after = before;
  after.add(nanoseconds(1'000'000));
  EXPECT_NEAR(after.since(before).quantile(0.01).value(), 1e-3, 7e-5);
}

}  // namespace
}  // namespace feedrate::formats
