#include "loader/plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace feedrate::detail {
namespace {

TEST(UnitPlan, runs_cover_every_position_of_every_epoch_once_and_in_order) {
  for (const std::uint64_t size : {1U, 63U, 64U, 65U, 1000U}) {
    for (const std::uint32_t batch : {1U, 10U, 64U, 100U, 5000U}) {
      for (const std::size_t image_bytes : {1U, 784U, 3072U, 150528U}) {
        const Plan plan({.batch = batch, .epochs = 2}, size, image_bytes);
        std::uint64_t expected = 0;
        for (std::uint64_t r = 0; r < plan.runs(); ++r) {
          const auto run = plan.run(r);
          ASSERT_LE(run.count, plan.run_length());
          if (run.count == 0) continue;
          const std::uint64_t position = run.batch.epoch * size + run.batch.first + run.seat;
          ASSERT_EQ(position, expected);
          ASSERT_LE(run.seat + run.count, run.batch.count);
          expected += run.count;
        }
        EXPECT_EQ(expected, 2 * size) << size << " samples in batches of " << batch;
      }
    }
  }
}

TEST(UnitPlan, small_images_are_filled_many_at_a_time_and_large_ones_singly) {
  EXPECT_EQ(Plan({.batch = 256}, 60000, 784).run_length(), 62U);
  EXPECT_EQ(Plan({.batch = 256}, 60000, 3072).run_length(), 16U);
  EXPECT_EQ(Plan({.batch = 256}, 60000, 224 * 224 * 3).run_length(), 1U);
  EXPECT_EQ(Plan({.batch = 8}, 60000, 784).run_length(), 8U);
}

TEST(UnitPlan, a_state_beyond_the_epochs_leaves_nothing_to_give) {
  EXPECT_EQ(Plan({.batch = 10, .epochs = 1, .first_batch = 10}, 100, 784).batches(), 0U);
  EXPECT_EQ(Plan({.batch = 10, .epochs = 1, .first_batch = 99}, 100, 784).batches(), 0U);
}

TEST(UnitPlan, a_state_at_an_epochs_end_is_the_next_epochs_beginning) {
  const Plan plan({.batch = 10, .epochs = 2, .first_batch = 10}, 100, 784);
  EXPECT_EQ(plan.batches(), 10U);
  EXPECT_EQ(plan.batch(0).epoch, 1U);
  EXPECT_EQ(plan.batch(0).first, 0U);
}

}  // namespace
}  // namespace feedrate::detail
