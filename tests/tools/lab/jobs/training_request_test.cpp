#include "tools/lab/jobs/training_request.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace feedrate::tools {
namespace {

using testing::expect_error;

TrainingRequest resnet_with_batch(std::optional<std::uint32_t> batch) {
  TrainingRequest request;
  request.model.network = "resnet50";
  request.changes.batch = batch;
  return request;
}

TEST(UnitTrainingRequest, advises_a_smaller_rate_for_a_batch_far_below_the_published) {
  EXPECT_EQ(rate_advice(resnet_with_batch(8)),
            "the learning rate, 0.1, was published for batches of 256 images; if the loss grows, "
            "try --lr 0.0031");
  EXPECT_NE(rate_advice(resnet_with_batch(64)), "");
}

TEST(UnitTrainingRequest, advises_no_rate_where_the_published_one_fits_or_was_replaced) {
  EXPECT_EQ(rate_advice(resnet_with_batch({})), "");
  EXPECT_EQ(rate_advice(resnet_with_batch(65)), "");
  TrainingRequest with_rate = resnet_with_batch(8);
  with_rate.changes.lr = 0.1;
  EXPECT_EQ(rate_advice(with_rate), "");
  TrainingRequest with_adam = resnet_with_batch(8);
  with_adam.changes.optimizer = "adam";
  EXPECT_EQ(rate_advice(with_adam), "");
}

TEST(UnitTrainingRequest, advises_no_rate_for_an_optimizer_that_adapts) {
  TrainingRequest request;
  request.model.network = "lstm";
  request.changes.batch = 8;
  EXPECT_EQ(changed_recipe(request).update.optimizer, "rmsprop");
  EXPECT_EQ(rate_advice(request), "");
}

TEST(UnitTrainingRequest, a_schedule_may_be_fixed_a_cosine_or_the_recipes_own) {
  TrainingRequest request = resnet_with_batch({});
  const auto schedule = [&](const std::string& policy) {
    request.changes.schedule = policy;
    return changed_recipe(request).schedule;
  };
  EXPECT_EQ(schedule("step").step_size, 150150U);
  EXPECT_EQ(trainer::LearningRate(schedule("fixed")).at(1'000'000), 0.1);
  EXPECT_EQ(schedule("cosine").policy, "cosine");
  expect_error([&] { schedule("exp"); }, {"--schedule exp", "fixed or cosine, or step"});
  request.changes.optimizer = "adam";
  expect_error([&] { schedule("step"); }, {"--schedule step", "choose fixed or cosine"});
}

}  // namespace
}  // namespace feedrate::tools
