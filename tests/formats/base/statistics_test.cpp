#include "formats/base/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace feedrate::formats {
namespace {

// Values of the usual printed table.
TEST(UnitStatistics, students_t_is_that_of_the_tables) {
  EXPECT_NEAR(student_t(1), 12.706, 5e-4);
  EXPECT_NEAR(student_t(2), 4.303, 5e-4);
  EXPECT_NEAR(student_t(9), 2.262, 5e-4);
  EXPECT_NEAR(student_t(10), 2.228, 5e-4);
  EXPECT_NEAR(student_t(20), 2.086, 5e-4);
  EXPECT_NEAR(student_t(60), 2.000, 5e-4);
  EXPECT_NEAR(student_t(1'000'000), 1.962, 5e-4);
  EXPECT_NEAR(student_t(4, 0.01), 4.604, 5e-4);
  EXPECT_NEAR(student_t(5, 0.001), 6.869, 5e-4);
  EXPECT_NEAR(student_t(8, 0.5), 0.706, 5e-4);
}

TEST(UnitStatistics, the_interval_lies_around_the_mean_and_widens_with_the_scatter) {
  // Mean 100, standard deviation 1, three values: ± 4.3027 / √3.
  const auto three = mean_interval(std::vector<double>{99, 100, 101});
  ASSERT_TRUE(three);
  EXPECT_NEAR(three->low, 100 - 2.4842, 1e-3);
  EXPECT_NEAR(three->high, 100 + 2.4842, 1e-3);
  const auto wide = mean_interval(std::vector<double>{98, 100, 102});
  EXPECT_NEAR(wide->high - 100, 2 * (three->high - 100), 1e-9);
}

TEST(UnitStatistics, equal_values_leave_no_doubt_and_one_value_tells_of_none) {
  const auto same = mean_interval(std::vector<double>{7, 7, 7, 7});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->low, 7);
  EXPECT_EQ(same->high, 7);
  EXPECT_FALSE(mean_interval(std::vector<double>{7}));
  EXPECT_FALSE(mean_interval({}));
}

TEST(UnitStatistics, the_interval_of_a_ratio_is_welchs_for_the_logarithms) {
  // The ratio of the geometric means is 1.110118, and 2.78 degrees of freedom count as 2.
  const auto found =
      ratio_interval(std::vector<double>{100, 102, 98}, std::vector<double>{110, 112, 111});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->low, 1.051238, 1e-5);
  EXPECT_NEAR(found->high, 1.172296, 1e-5);
  // The same when both are in other units, and the inverse when they change places.
  const auto scaled =
      ratio_interval(std::vector<double>{1, 1.02, 0.98}, std::vector<double>{1.1, 1.12, 1.11});
  EXPECT_NEAR(scaled->low, found->low, 1e-12);
  const auto inverse =
      ratio_interval(std::vector<double>{110, 112, 111}, std::vector<double>{100, 102, 98});
  EXPECT_NEAR(inverse->low, 1 / found->high, 1e-12);
}

TEST(UnitStatistics, two_values_that_agree_by_chance_do_not_count_as_exact) {
  // A factor of 1.0288 between the means, ± 4.3027 times 0.0076: ten values leave two degrees of freedom.
  const std::vector<double> two{1030, 1030.1},
      ten{970, 1030, 1000, 990, 1010, 1040, 960, 1020, 980, 1015};
  const auto found = ratio_interval(two, ten);
  ASSERT_TRUE(found);
  EXPECT_LT(found->low, 0.95);
  EXPECT_GT(found->high, 1);
  EXPECT_NEAR(ratio_interval(ten, two)->low, 1 / found->high, 1e-12);
}

TEST(UnitStatistics, a_ratio_of_single_or_zero_values_has_no_interval) {
  const std::vector<double> one{5}, two{5, 6}, zero{0, 5}, same{5, 5};
  EXPECT_FALSE(ratio_interval(one, two));
  EXPECT_FALSE(ratio_interval(two, one));
  EXPECT_FALSE(ratio_interval(zero, two));
  EXPECT_NEAR(ratio_interval(same, same)->low, 1, 1e-12);
  EXPECT_NEAR(ratio_interval(same, same)->high, 1, 1e-12);
}

TEST(UnitStatistics, pairs_tell_a_ratio_that_a_drift_of_both_hides) {
  const std::vector<double> before{9000, 8000, 7000}, after{8560, 7600, 6640};
  const auto paired = paired_ratio_interval(before, after);
  ASSERT_TRUE(paired);
  EXPECT_LT(paired->high, 1);
  EXPECT_GT(ratio_interval(before, after)->high, 1);
  EXPECT_LT(paired->low, 0.95);
  EXPECT_GT(paired->high, 0.95);
  EXPECT_FALSE(paired_ratio_interval(before, std::vector<double>{1, 2}));
  EXPECT_FALSE(paired_ratio_interval(before, std::vector<double>{1, 2, 0}));
  EXPECT_FALSE(paired_ratio_interval(std::vector<double>{1}, std::vector<double>{2}));
}

}  // namespace
}  // namespace feedrate::formats
