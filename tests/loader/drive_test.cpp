#include "loader/drive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "formats/digests/digest.h"
#include "loader/emulated_host.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

// Time passes only while samples are read, where a test says so, and in naps: what a loaded machine
// does to a run changes nothing. The loader has no threads, so that its work takes time too.
class MadeClock final : public DriveClock {
 public:
  Time now() override { return now_; }
  void sleep_until(Time time) override { now_ = std::max(now_, time); }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  Time now_{1h};
};

// Images that take as long to read as `each` says.
class TimedImages {
 public:
  explicit TimedImages(std::chrono::nanoseconds each)
      : dataset_(1000, {28, 28, 1}, [this, each](std::uint64_t, Sample&) { clock.pass(each); }) {}
  // Batches of 10.
  DriveResult drive(DriveOptions options) {
    Loader loader(dataset_, recipe("none"), {.threads = 0, .batch = 10, .epochs = 0});
    options.clock = &clock;
    return loader::drive(loader, options);
  }
  MadeClock clock;

 private:
  MemoryDataset dataset_;
};

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
  EXPECT_GT(result.images_per_second().value(), 0);
  EXPECT_GT(result.first_batch_seconds, 0);
  EXPECT_GT(result.peak_rss_bytes, 1U << 20);
  EXPECT_FALSE(result.accelerator_utilisation.has_value());
}

TEST(UnitDrive, stops_when_the_time_is_up) {
  TimedImages images(1ms);
  const DriveResult result = images.drive({.seconds = 0.1});
  EXPECT_NEAR(result.seconds, 0.1, 1e-9);
  EXPECT_NEAR(result.first_batch_seconds, 0.01, 1e-9);
  EXPECT_EQ(result.images, 110U) << "the first was ready when the clock started";
  EXPECT_GT(result.cpu_seconds, 0);
}

TEST(UnitDrive, by_the_steady_clock_a_run_is_as_long_as_asked) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 16, .epochs = 0});
  EXPECT_GE(drive(loader, {.seconds = 0.05}).seconds, 0.05);
  EXPECT_GE(drive(loader, {.seconds = 0.05, .emulate_images_per_second = 1e3}).seconds, 0.05);
}

TEST(UnitDrive, a_run_of_given_length_reports_its_warm_up) {
  TimedImages steady(1ms);
  const DriveResult timed = steady.drive({.seconds = 2});
  EXPECT_EQ(timed.warmup_seconds, 0.0);
  EXPECT_NEAR(timed.images_per_second().value(), 1000, 1e-6);

  // Three times as long for the first half second.
  MadeClock clock;
  std::uint64_t reads = 0;
  const MemoryDataset warming(
      1000, {28, 28, 1}, [&](std::uint64_t, Sample&) { clock.pass(++reads <= 170 ? 3ms : 1ms); });
  Loader loader(warming, recipe("none"), {.threads = 0, .batch = 10, .epochs = 0});
  const DriveResult warmed = drive(loader, {.seconds = 4, .clock = &clock});
  ASSERT_TRUE(warmed.warmup_seconds.has_value());
  EXPECT_GE(*warmed.warmup_seconds, 0.4);
  EXPECT_LE(*warmed.warmup_seconds, 2);
  EXPECT_NEAR(warmed.images_per_second().value(), 1000, 10);

  const MemoryDataset dataset(1000);
  Loader once(dataset, recipe("none"), {.threads = 1, .batch = 16, .epochs = 1});
  EXPECT_FALSE(drive(once, {}).warmup_seconds.has_value());
}

TEST(UnitDrive, a_trainer_slower_than_the_loader_runs_at_its_own_speed) {
  TimedImages images(0ms);
  const DriveResult result = images.drive({.seconds = 0.5, .emulate_images_per_second = 1000});
  EXPECT_EQ(result.batches, 50U) << "10 ms a batch";
  EXPECT_NEAR(result.images_per_second().value(), 1000, 25);
  EXPECT_NEAR(result.accelerator_utilisation.value(), 1.0, 1e-9);
}

TEST(UnitDrive, a_trainer_faster_than_the_loader_stalls_and_is_used_in_part) {
  TimedImages images(1ms);
  // A batch takes the loader 10 ms, then the trainer 2.5 ms.
  const DriveResult result = images.drive({.seconds = 1, .emulate_images_per_second = 4000});
  EXPECT_NEAR(*result.accelerator_utilisation, 0.2, 0.003);
  EXPECT_NEAR(result.images_per_second().value(), 800, 12);
  EXPECT_GT(result.stall_seconds, 0);
}

// A nap that ends late is made up for by the next; a wait for the loader is not.
TEST(UnitDrive, overshooting_a_nap_does_not_delay_a_trainers_schedule) {
  struct Late final : DriveClock {
    Time time{1h};
    Time now() override { return time; }
    void sleep_until(Time until) override {
      if (time < until) time = until + 3ms;
    }
  } clock;
  std::atomic<std::uint64_t> reads{0};
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](std::uint64_t, Sample&) { ++reads; });
  // Waits are the steady clock's, so that there must be none: all batches are ready.
  Loader loader(dataset, recipe("none"),
                {.threads = 1, .batch = 10, .epochs = 0, .engine = {.depth = 60}});
  while (reads < 600) std::this_thread::sleep_for(1ms);
  const DriveResult result =
      drive(loader, {.seconds = 0.5, .emulate_images_per_second = 1000, .clock = &clock});
  EXPECT_GE(result.batches, 49U);
}

// Each look at the processor time lets it pass: as fast as the time, or at a quarter where others
// hold the core.
struct HostClock final : DriveClock {
  explicit HostClock(unsigned share) : share_of_core(share) {}
  Time now() override { return time; }
  void sleep_until(Time until) override { time = std::max(time, until); }
  double processor_seconds() override {
    time += 100us;
    used += 1e-4 / share_of_core;
    return used;
  }
  unsigned share_of_core;
  Time time{1h};
  double used = 0;
};

TEST(UnitDrive, an_emulated_host_computes_within_the_step_and_delays_it_where_cores_are_short) {
  std::atomic<std::uint64_t> reads{0};
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](std::uint64_t, Sample&) { ++reads; });
  for (const auto& [share, rate] : {std::pair(1U, 1000.0), std::pair(4U, 500.0)}) {
    HostClock clock(share);
    Loader loader(dataset, recipe("none"), {.threads = 0, .batch = 10, .epochs = 0});
    const DriveResult result = drive(loader, {.seconds = 0.5,
                                              .emulate_images_per_second = 1000,
                                              .emulate_host_cores = 0.5,
                                              .resident = true,
                                              .clock = &clock});
    EXPECT_NEAR(result.images_per_second().value(), rate, 0.05 * rate) << share;
    EXPECT_GE(clock.used, 0.5 * 0.01 * static_cast<double>(result.batches - 1)) << share;
  }
}

TEST(UnitDrive, a_resident_run_takes_the_first_batch_again_and_again) {
  std::atomic<std::uint64_t> reads{0};
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](std::uint64_t, Sample&) { ++reads; });
  MadeClock clock;
  Loader loader(dataset, recipe("none"), {.threads = 0, .batch = 10, .epochs = 0});
  const DriveResult result =
      drive(loader,
            {.seconds = 0.2, .emulate_images_per_second = 1000, .resident = true, .clock = &clock});
  EXPECT_EQ(reads, 10U);
  EXPECT_NEAR(result.images_per_second().value(), 1000, 1);
  EXPECT_EQ(result.stall_seconds, 0);
}

TEST(UnitEmulatedHost, its_threads_compute_as_long_as_they_are_told_to) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double before = used();
  EmulatedHost host(2);
  host.add(0.02);
  for (int naps = 0; naps < 3000 && used() - before < 0.04; ++naps) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(used() - before, 0.04);
}

TEST(UnitDrive, batches_that_were_ready_at_the_start_do_not_raise_the_rate) {
  for (const std::uint32_t batch : {40U, 20U, 5U}) {
    std::atomic<std::uint64_t> reads{0};
    const MemoryDataset dataset(41, {28, 28, 1}, [&](std::uint64_t, Sample&) {
      ++reads;
      std::this_thread::sleep_for(2ms);
    });
    Loader loader(dataset, recipe("none"), {.threads = 1, .batch = batch, .engine = {.depth = 10}});
    while (reads < 41) std::this_thread::sleep_for(1ms);  // all batches but the last are filled
    const DriveResult result = drive(loader, {});
    EXPECT_EQ(result.images, 41U);
    EXPECT_LT(result.images_per_second().value(), 500) << "batches of " << batch;
  }
}

TEST(UnitDrive, the_end_of_the_run_interrupts_a_trainers_step) {
  TimedImages images(0ms);
  const auto before = images.clock.now();
  const DriveResult result = images.drive({.seconds = 0.1, .emulate_images_per_second = 1e-300});
  EXPECT_NEAR(std::chrono::duration<double>(images.clock.now() - before).count(), 0.1, 1e-9);
  EXPECT_GE(result.seconds, 0.1);
  EXPECT_LE(*result.accelerator_utilisation, 1.0);
}

// Without threads no more is ready than the first batch.
TEST(UnitDrive, a_run_of_few_batches_is_measured_from_the_loaders_start) {
  for (const std::uint32_t batch : {100U, 60U, 25U}) {
    const MemoryDataset dataset(100);
    Loader loader(dataset, recipe("none"), {.threads = 0, .batch = batch});
    const DriveResult result = drive(loader, {});
    EXPECT_EQ(result.from_start, batch > 50) << "batches of " << batch;
    if (result.from_start) {
      EXPECT_GE(result.seconds, result.first_batch_seconds);
    }
  }
}

TEST(UnitDrive, one_batch_is_too_few_for_a_rate) {
  const MemoryDataset dataset(10);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 10});
  const DriveResult result = drive(loader, {});
  EXPECT_EQ(result.batches, 1U);
  EXPECT_EQ(result.images_per_second(), std::nullopt);
  EXPECT_EQ(result.unknown_rate(), "one batch is too few");
  EXPECT_EQ(drive(loader, {}).unknown_rate(), "there was no batch");
}

// While the first image is slow to come, as from a cold disk, the other worker fills every slot.
TEST(UnitDrive, a_first_batch_that_is_late_makes_no_image_free) {
  constexpr std::uint64_t size = 500, batch = 64;
  std::atomic<std::uint64_t> reads{0};
  const MemoryDataset dataset(size, {28, 28, 1}, [&](std::uint64_t index, Sample&) {
    while (index == 0 && reads < size - 2 * batch) std::this_thread::sleep_for(1ms);
    ++reads;
  });
  const LoaderOptions options{
      .threads = 2, .batch = 64, .order = {.shuffle = false}, .engine = {.depth = 16}};
  Loader loader(dataset, recipe("none"), options);
  const DriveResult result = drive(loader, {});
  EXPECT_TRUE(result.from_start);
  EXPECT_EQ(result.timed_images, size);
  EXPECT_EQ(result.timed_seconds, result.seconds);
  EXPECT_GE(result.seconds, result.first_batch_seconds);
  EXPECT_EQ(result.images_per_second().value(), size / result.seconds);
}

TEST(UnitDrive, a_rate_is_that_of_the_images_that_did_not_lie_ready) {
  MadeClock clock;
  const MemoryDataset dataset(240);
  Loader loader(dataset, recipe("none"),
                {.threads = 1, .batch = 10, .engine = {.io_threads = 0, .depth = 7}});
  while (loader.ready_images() < 70) std::this_thread::sleep_for(1ms);  // every slot
  EXPECT_EQ(loader.slots(), 7U);
  // A trainer of 100 images/s: 24 batches of 0.1 s each.
  const DriveResult result = drive(loader, {.emulate_images_per_second = 100, .clock = &clock});
  EXPECT_FALSE(result.from_start);
  EXPECT_EQ(result.images, 240U);
  EXPECT_EQ(result.ready_images, 70U);
  EXPECT_EQ(result.timed_images, 170U);
  EXPECT_NEAR(result.timed_seconds, 1.7, 1e-9);
  EXPECT_NEAR(result.images_per_second().value(), 100, 1e-6);
}

// Whatever the batches: those of 64 take 0.64 s each, so that the end cuts one.
TEST(UnitDrive, an_emulated_trainer_takes_its_rate_however_short_the_run) {
  for (const std::uint32_t batch : {1U, 10U, 64U, 150U}) {
    for (const double length : {1.0, 1.7, 4.0, 30.0}) {
      MadeClock clock;
      const MemoryDataset dataset(1000);
      Loader loader(dataset, recipe("none"), {.threads = 0, .batch = batch, .epochs = 0});
      const DriveResult result =
          drive(loader, {.seconds = length, .emulate_images_per_second = 100, .clock = &clock});
      SCOPED_TRACE(join("batches of ", batch, ", ", length, " s"));
      EXPECT_NEAR(result.seconds, length, result.from_start ? 0.5 : 1e-9);
      EXPECT_GE(static_cast<double>(result.images), 100 * length);
      EXPECT_LE(static_cast<double>(result.images), 100 * length + batch) << "the last is cut";
      if (result.batches < 2) continue;  // no rate
      if (!result.from_start) {          // the loader's start is on the steady clock
        EXPECT_NEAR(result.images_per_second().value(), 100, 0.5);
      }
      EXPECT_LE(result.images_per_second().value(), 100.5);
      EXPECT_GE(result.images_per_second().value(), 70);
      EXPECT_NEAR(result.demand.value(), 100, 1);
    }
  }
}

TEST(UnitDrive, demand_is_of_the_time_without_waits_and_no_less_than_the_rate) {
  TimedImages slow(1ms);
  const DriveResult alone = slow.drive({.seconds = 1});
  ASSERT_TRUE(alone.demand.has_value());
  EXPECT_GE(*alone.demand, alone.images_per_second().value());
  // The time before the first batch is asked for is not the consumer's.
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 10});
  std::this_thread::sleep_for(200ms);
  const DriveResult late = drive(loader, {});
  EXPECT_GE(late.demand.value(), late.images_per_second().value());
}

}  // namespace
}  // namespace feedrate::loader
