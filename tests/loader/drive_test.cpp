#include "loader/drive.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "formats/digests/digest.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(UnitDrive, counts_everything_and_hashes_it_in_order) {
  const MemoryDataset dataset(100);
  Hasher hasher;
  for (std::uint64_t first = 0; first < 100; first += 25) {
    for (std::uint64_t i = first; i < first + 25; ++i) {
      const auto label = static_cast<std::int32_t>(i % 10);
      hasher.add(std::as_bytes(std::span(&label, 1)));
    }
    hasher.add(dataset.pixels().subspan(first * 784, std::size_t{25} * 784));
  }
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 25, .order = {.shuffle = false}});
  const DriveResult result = drive(loader, {.digest = true});
  EXPECT_EQ(result.images, 100U);
  EXPECT_EQ(result.batches, 4U);
  EXPECT_EQ(result.digest, hex(hasher.finish()));
  EXPECT_GT(result.images_per_second, 0);
  EXPECT_GT(result.first_batch_seconds, 0);
  EXPECT_GT(result.peak_rss_bytes, 1U << 20);
  EXPECT_FALSE(result.accelerator_utilisation.has_value());
}

TEST(UnitDrive, stops_when_the_time_is_up) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 16, .epochs = 0});
  const DriveResult result = drive(loader, {.seconds = 0.1});
  EXPECT_GE(result.seconds, 0.1);
  EXPECT_LT(result.seconds, 2);
  EXPECT_GT(result.images, 1000U);
  EXPECT_GT(result.cpu_seconds, 0);
}

TEST(UnitDrive, a_run_of_given_length_reports_its_warm_up) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 16, .epochs = 0});
  const DriveResult timed = drive(loader, {.seconds = 1});
  ASSERT_TRUE(timed.warmup_seconds.has_value());
  EXPECT_GE(*timed.warmup_seconds, 0);
  EXPECT_LT(*timed.warmup_seconds, 0.7 * timed.seconds);
  Loader once(dataset, recipe("none"), {.threads = 1, .batch = 16, .epochs = 1});
  EXPECT_FALSE(drive(once, {}).warmup_seconds.has_value());
}

TEST(UnitDrive, a_trainer_slower_than_the_loader_runs_at_its_own_speed_without_stalls) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 10, .epochs = 0});
  const DriveResult result = drive(loader, {.seconds = 0.5, .emulate_images_per_second = 1000});
  // 10 ms a batch: 50 batches, since overshooting a sleep does not delay the schedule.
  EXPECT_NEAR(static_cast<double>(result.batches), 50, 3);
  EXPECT_LT(result.stall_seconds, 0.1);
  ASSERT_TRUE(result.accelerator_utilisation.has_value());
  EXPECT_GT(*result.accelerator_utilisation, 0.8);
  EXPECT_LE(*result.accelerator_utilisation, 1.0);
}

TEST(UnitDrive, a_trainer_faster_than_the_loader_stalls_and_is_used_in_part) {
  const auto slow = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(1ms); };
  const MemoryDataset dataset(1000, {28, 28, 1}, slow);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 10, .epochs = 0});
  // A batch takes the loader at least 10 ms and the trainer 2.5 ms.
  const DriveResult result = drive(loader, {.seconds = 0.4, .emulate_images_per_second = 4000});
  EXPECT_LT(*result.accelerator_utilisation, 0.35);
  EXPECT_GT(result.stall_seconds, 0.2);
  EXPECT_LT(result.images_per_second, 1000);
}

TEST(UnitDrive, batches_that_were_ready_at_the_start_do_not_raise_the_rate) {
  const auto slow = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(2ms); };
  const MemoryDataset dataset(40, {28, 28, 1}, slow);
  for (const std::uint32_t batch : {40U, 20U, 5U}) {
    Loader loader(dataset, recipe("none"), {.threads = 1, .batch = batch});
    std::this_thread::sleep_for(120ms);  // by now the slots hold all images
    const DriveResult result = drive(loader, {});
    EXPECT_EQ(result.images, 40U);
    EXPECT_LT(result.images_per_second, 500) << "batches of " << batch;
  }
}

TEST(UnitDrive, the_end_of_the_run_interrupts_a_trainers_step) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 10, .epochs = 0});
  const DriveResult result = drive(loader, {.seconds = 0.1, .emulate_images_per_second = 1e-300});
  EXPECT_LT(result.seconds, 2);
  EXPECT_LE(*result.accelerator_utilisation, 1.0);
}

TEST(UnitDrive, a_single_batch_still_has_a_rate) {
  const MemoryDataset dataset(10);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 10});
  const DriveResult result = drive(loader, {});
  EXPECT_EQ(result.batches, 1U);
  EXPECT_GT(result.images_per_second, 0);
}

}  // namespace
}  // namespace feedrate::loader
