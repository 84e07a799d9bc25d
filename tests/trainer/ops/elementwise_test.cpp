#include "trainer/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trainer/optimizers/sgd.h"

namespace feedrate::trainer {
namespace {

TEST(UnitElementwise, relu_keeps_what_is_above_zero_and_lets_nan_through) {
  EXPECT_EQ(relu(2.5F), 2.5F);
  EXPECT_EQ(relu(-2.5F), 0.0F);
  EXPECT_TRUE(std::isnan(relu(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(relu_gradient(3.0F, 0.1F), 3.0F);
  EXPECT_EQ(relu_gradient(3.0F, 0.0F), 0.0F);
}

TEST(UnitElementwise, dropout_drops_its_share_and_keeps_the_mean) {
  const DropoutMask mask(1, 2, 3, 0.2F);
  double sum = 0;
  int dropped = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    sum += double{mask.factor(i)};
    dropped += mask.factor(i) == 0.0F ? 1 : 0;
  }
  EXPECT_NEAR(dropped / 1e5, 0.2, 0.005);
  EXPECT_NEAR(sum / 1e5, 1.0, 0.01);
}

TEST(UnitElementwise, dropout_draws_anew_for_every_seed_step_and_node) {
  const auto agreement = [](const DropoutMask& a, const DropoutMask& b) {
    int same = 0;
    for (std::uint64_t i = 0; i < 10000; ++i) same += a.factor(i) == b.factor(i) ? 1 : 0;
    return same;
  };
  const DropoutMask mask(1, 2, 3, 0.5F);
  EXPECT_EQ(agreement(mask, DropoutMask(1, 2, 3, 0.5F)), 10000);
  EXPECT_NEAR(agreement(mask, DropoutMask(2, 2, 3, 0.5F)), 5000, 300);
  EXPECT_NEAR(agreement(mask, DropoutMask(1, 3, 3, 0.5F)), 5000, 300);
  EXPECT_NEAR(agreement(mask, DropoutMask(1, 2, 4, 0.5F)), 5000, 300);
}

TEST(UnitElementwise, cross_entropy_of_equal_logits_is_the_log_of_their_number) {
  EXPECT_DOUBLE_EQ(cross_entropy(std::log(10.0), 4.0F, 4.0F), std::log(10.0));
  EXPECT_FLOAT_EQ(softmax_loss_gradient(0.25F, 1, 0.5F), -0.375F);
  EXPECT_FLOAT_EQ(softmax_loss_gradient(0.25F, 0, 0.5F), 0.125F);
}

TEST(UnitSgd, one_update_is_caffes) {
  float weight = 2, velocity = 0.5F;
  const SgdRule rule({.rate = 0.1, .momentum = 0.9, .decay = 0.01}, {});
  rule.update(weight, 0.25F, velocity);
  EXPECT_FLOAT_EQ(velocity, 0.9F * 0.5F + 0.1F * (0.25F + 0.01F * 2));
  EXPECT_FLOAT_EQ(weight, 2 - velocity);
}

}  // namespace
}  // namespace feedrate::trainer
