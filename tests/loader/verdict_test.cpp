#include "loader/verdict.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

LoaderStats stats_of(double read, double decode, double augment, double wait) {
  LoaderStats stats;
  stats.images = 1000;
  stats.busy_read = read;
  stats.busy_decode = decode;
  stats.busy_augment = augment;
  stats.wait_seconds = wait;
  stats.alive_seconds = 10;
  return stats;
}

TEST(UnitVerdict, the_longest_stage_bounds_a_consumer_that_waits) {
  const Verdict verdict = judge(stats_of(2, 16, 2, 9), 2);
  EXPECT_EQ(verdict.bound, Bound::decode);
  EXPECT_DOUBLE_EQ(verdict.supply, 100);   // 20 s of two workers for 1,000 images
  EXPECT_DOUBLE_EQ(verdict.demand, 1000);  // one second outside next()
  EXPECT_DOUBLE_EQ(verdict.margin(), 10);
  EXPECT_EQ(verdict.text(),
            "decode-bound: it took 80 % of the workers' time; the consumer could take 10 times as "
            "many images/s");
  EXPECT_EQ(judge(stats_of(16, 2, 2, 9), 2).bound, Bound::fetch);
  EXPECT_EQ(judge(stats_of(2, 2, 16, 9), 2).bound, Bound::augment);
}

TEST(UnitVerdict, idle_workers_are_bound_by_the_consumer) {
  const Verdict verdict = judge(stats_of(1, 3, 0, 0.1), 2);
  EXPECT_EQ(verdict.bound, Bound::consumer);
  EXPECT_DOUBLE_EQ(verdict.supply, 500);
  EXPECT_NEAR(verdict.margin(), 4.95, 1e-9);
  EXPECT_EQ(verdict.text(), "consumer-bound: the workers could give 5.0 times as many images/s");
}

TEST(UnitVerdict, without_threads_the_consumer_is_its_own_worker) {
  EXPECT_DOUBLE_EQ(judge(stats_of(1, 3, 0, 4), 0).supply, 250);
}

TEST(UnitVerdict, without_images_there_is_no_verdict) {
  EXPECT_EQ(judge({}, 2).text(), "nothing was handed out");
}

// A real loader with two threads: first a slow source, then a slow consumer.
TEST(UnitVerdict, a_real_loader_is_judged_by_its_slow_side) {
  using std::chrono::milliseconds;
  const auto verdict_with = [](milliseconds reading, milliseconds taking) {
    const MemoryDataset dataset(
        256, {28, 28, 1}, [=](std::uint64_t, Sample&) { std::this_thread::sleep_for(reading); });
    Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 16, .epochs = 1});
    while (loader.next() != nullptr) std::this_thread::sleep_for(taking);
    return judge(loader.stats(), 2);
  };
  EXPECT_EQ(verdict_with(milliseconds(1), milliseconds(0)).bound, Bound::fetch);
  const Verdict slow_consumer = verdict_with(milliseconds(0), milliseconds(5));
  EXPECT_EQ(slow_consumer.bound, Bound::consumer);
  EXPECT_GT(slow_consumer.margin(), 2);
}

}  // namespace
}  // namespace feedrate::loader
