#include "trainer/optimizers/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace feedrate::trainer {
namespace {

using testing::expect_error;

TEST(UnitSchedule, fixed_never_moves) {
  const Schedule schedule{.policy = "fixed", .rate = 0.3};
  EXPECT_EQ(schedule.at(0), 0.3);
  EXPECT_EQ(schedule.at(1000000), 0.3);
}

TEST(UnitSchedule, step_drops_at_each_multiple) {
  const Schedule schedule{.policy = "step", .rate = 1, .gamma = 0.1, .step_size = 100};
  EXPECT_DOUBLE_EQ(schedule.at(99), 1);
  EXPECT_DOUBLE_EQ(schedule.at(100), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(250), 0.01);
}

TEST(UnitSchedule, multistep_drops_at_the_steps_given) {
  const Schedule schedule{.policy = "multistep", .rate = 1, .gamma = 0.5, .steps = {10, 30}};
  EXPECT_DOUBLE_EQ(schedule.at(9), 1);
  EXPECT_DOUBLE_EQ(schedule.at(10), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(30), 0.25);
}

TEST(UnitSchedule, inv_exp_poly_and_sigmoid_are_caffes_formulas) {
  EXPECT_DOUBLE_EQ((Schedule{.policy = "inv", .rate = 2, .gamma = 0.5, .power = 2}.at(2)),
                   2 * std::pow(1 + 0.5 * 2, -2));
  EXPECT_DOUBLE_EQ((Schedule{.policy = "exp", .rate = 2, .gamma = 0.5}.at(3)), 0.25);
  const Schedule poly{.policy = "poly", .rate = 1, .power = 2, .max_steps = 10};
  EXPECT_DOUBLE_EQ(poly.at(5), 0.25);
  EXPECT_DOUBLE_EQ(poly.at(12), 0);
  const Schedule sigmoid{.policy = "sigmoid", .rate = 1, .gamma = -0.1, .step_size = 50};
  EXPECT_DOUBLE_EQ(sigmoid.at(50), 0.5);
  EXPECT_LT(sigmoid.at(100), sigmoid.at(50));
}

TEST(UnitSchedule, a_cosine_falls_from_the_rate_to_nothing) {
  const Schedule cosine{.policy = "cosine", .rate = 2, .max_steps = 100};
  EXPECT_DOUBLE_EQ(cosine.at(0), 2);
  EXPECT_DOUBLE_EQ(cosine.at(25), 1 + std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(cosine.at(50), 1);
  EXPECT_NEAR(cosine.at(100), 0, 1e-15);
  EXPECT_NEAR(cosine.at(150), 0, 1e-15);
}

TEST(UnitSchedule, warm_up_grows_evenly_to_the_policys_rate) {
  const Schedule fixed{.rate = 8, .warmup = 4};
  EXPECT_DOUBLE_EQ(fixed.at(0), 2);
  EXPECT_DOUBLE_EQ(fixed.at(2), 6);
  EXPECT_DOUBLE_EQ(fixed.at(3), 8);
  EXPECT_DOUBLE_EQ(fixed.at(99), 8);
  const Schedule cosine{.policy = "cosine", .rate = 8, .max_steps = 104, .warmup = 4};
  EXPECT_DOUBLE_EQ(cosine.at(1), 4);
  EXPECT_DOUBLE_EQ(cosine.at(4), 8);  // the cosine begins where warm-up ends
  EXPECT_DOUBLE_EQ(cosine.at(54), 4);
  const Schedule all{.policy = "cosine", .rate = 8, .max_steps = 4, .warmup = 4};
  EXPECT_DOUBLE_EQ(all.at(3), 8);
}

TEST(HostileSchedule, an_unknown_policy_gets_the_nearest_name) {
  expect_error([] { Schedule{.policy = "ploy"}.at(0); },
               {"no rate policy 'ploy'", "did you mean poly?"});
}

TEST(HostileSchedule, a_policy_without_its_number_is_refused) {
  expect_error([] { Schedule{.policy = "step"}.at(1); }, {"step", "step size"});
  expect_error([] { Schedule{.policy = "poly"}.at(1); }, {"poly", "number of steps"});
  expect_error([] { Schedule{.policy = "cosine"}.at(1); }, {"cosine", "number of steps"});
}

}  // namespace
}  // namespace feedrate::trainer
