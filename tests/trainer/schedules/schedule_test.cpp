#include "trainer/schedules/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace feedrate::trainer {
namespace {

using testing::expect_error;

TEST(UnitSchedule, fixed_never_moves) {
  const LearningRate schedule({.policy = "fixed", .rate = 0.3});
  EXPECT_EQ(schedule.at(0), 0.3);
  EXPECT_EQ(schedule.at(1000000), 0.3);
}

TEST(UnitSchedule, step_drops_at_each_multiple) {
  const LearningRate schedule({.policy = "step", .rate = 1, .gamma = 0.1, .step_size = 100});
  EXPECT_DOUBLE_EQ(schedule.at(99), 1);
  EXPECT_DOUBLE_EQ(schedule.at(100), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(250), 0.01);
}

TEST(UnitSchedule, multistep_drops_at_the_steps_given) {
  const LearningRate schedule({.policy = "multistep", .rate = 1, .gamma = 0.5, .steps = {10, 30}});
  EXPECT_DOUBLE_EQ(schedule.at(9), 1);
  EXPECT_DOUBLE_EQ(schedule.at(10), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(30), 0.25);
}

TEST(UnitSchedule, inv_exp_poly_and_sigmoid_are_caffes_formulas) {
  EXPECT_DOUBLE_EQ((LearningRate({.policy = "inv", .rate = 2, .gamma = 0.5, .power = 2}).at(2)),
                   2 * std::pow(1 + 0.5 * 2, -2));
  EXPECT_DOUBLE_EQ((LearningRate({.policy = "exp", .rate = 2, .gamma = 0.5}).at(3)), 0.25);
  const LearningRate poly({.policy = "poly", .rate = 1, .power = 2, .max_steps = 10});
  EXPECT_DOUBLE_EQ(poly.at(5), 0.25);
  EXPECT_DOUBLE_EQ(poly.at(12), 0);
  const LearningRate sigmoid({.policy = "sigmoid", .rate = 1, .gamma = -0.1, .step_size = 50});
  EXPECT_DOUBLE_EQ(sigmoid.at(50), 0.5);
  EXPECT_LT(sigmoid.at(100), sigmoid.at(50));
}

TEST(UnitSchedule, a_cosine_falls_from_the_rate_to_nothing) {
  const LearningRate cosine({.policy = "cosine", .rate = 2, .max_steps = 100});
  EXPECT_DOUBLE_EQ(cosine.at(0), 2);
  EXPECT_DOUBLE_EQ(cosine.at(25), 1 + std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(cosine.at(50), 1);
  EXPECT_NEAR(cosine.at(100), 0, 1e-15);
  EXPECT_NEAR(cosine.at(150), 0, 1e-15);
}

TEST(UnitSchedule, warm_up_grows_evenly_to_the_policys_rate) {
  const LearningRate fixed({.rate = 8, .warmup = 4});
  EXPECT_DOUBLE_EQ(fixed.at(0), 2);
  EXPECT_DOUBLE_EQ(fixed.at(2), 6);
  EXPECT_DOUBLE_EQ(fixed.at(3), 8);
  EXPECT_DOUBLE_EQ(fixed.at(99), 8);
  const LearningRate cosine({.policy = "cosine", .rate = 8, .max_steps = 104, .warmup = 4});
  EXPECT_DOUBLE_EQ(cosine.at(1), 4);
  EXPECT_DOUBLE_EQ(cosine.at(4), 8);  // the cosine begins where warm-up ends
  EXPECT_DOUBLE_EQ(cosine.at(54), 4);
  const LearningRate all({.policy = "cosine", .rate = 8, .max_steps = 4, .warmup = 4});
  EXPECT_DOUBLE_EQ(all.at(3), 8);
}

TEST(UnitSchedule, a_policy_says_where_its_numbers_come_from) {
  using Numbers = Policy::Numbers;
  EXPECT_EQ(policy("fixed").rule().numbers, Numbers::none);
  EXPECT_EQ(policy("cosine").rule().numbers, Numbers::length_of_training);
  for (const Policy* row : policies()) {
    if (row->name() == "fixed" || row->name() == "cosine") continue;
    EXPECT_EQ(row->rule().numbers, Numbers::recipe) << row->name();
  }
}

TEST(HostileSchedule, an_unknown_policy_gets_the_nearest_name) {
  expect_error([] { LearningRate({.policy = "ploy"}); },
               {"no rate policy 'ploy'", "did you mean poly?"});
}

TEST(HostileSchedule, a_policy_without_its_number_is_refused) {
  expect_error([] { LearningRate({.policy = "step"}); }, {"step", "step size"});
  expect_error([] { LearningRate({.policy = "poly"}); }, {"poly", "number of steps"});
  expect_error([] { LearningRate({.policy = "cosine"}); }, {"cosine", "number of steps"});
}

}  // namespace
}  // namespace feedrate::trainer
