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
  EXPECT_NEAR(student_t(1'000'000), 1.960, 5e-4);
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

}  // namespace
}  // namespace feedrate::formats
