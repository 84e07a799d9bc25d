#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "loader/loader.h"
#include "tests/loader/gathering.h"
#include "tests/loader/mirroring.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

const Mirroring stats_mirroring;

TEST(UnitStats, exactly_the_requested_threads_work_at_once_even_beyond_the_cores) {
  for (const unsigned threads : {1U, 2U, 4U, 16U, 64U}) {
    Gathering gathering;
    gathering.expect(threads);
    const MemoryDataset dataset(1000, {28, 28, 1}, [&](auto, auto&) { gathering.work(); });
    Loader loader(dataset, recipe("none"), {.threads = threads, .batch = 1, .epochs = 0});
    for (unsigned i = 0; i < 8 * threads + 20; ++i) loader.next();
    EXPECT_EQ(loader.stats().workers_seen, threads);
    EXPECT_EQ(gathering.peak(), threads);
  }
}

TEST(UnitStats, without_workers_the_callers_thread_fills_and_that_counts_as_waiting) {
  std::set<std::thread::id> threads;
  const auto note = [&](std::uint64_t, Sample&) {
    threads.insert(std::this_thread::get_id());
    std::this_thread::sleep_for(1ms);
  };
  const MemoryDataset dataset(20, {28, 28, 1}, note);
  Loader loader(dataset, recipe("none"), {.threads = 0, .batch = 4});
  while (loader.next() != nullptr) continue;
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.workers_seen, 1U);
  EXPECT_GE(stats.wait_seconds, 0.020);
  EXPECT_GE(stats.wait_seconds, stats.busy_read + stats.busy_decode);
}

TEST(UnitStats, sums_are_what_was_handed_out) {
  const MemoryDataset dataset(100);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 32, .epochs = 2});
  while (loader.next() != nullptr) continue;
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.images, 200U);
  EXPECT_EQ(stats.batches, 8U);
  EXPECT_EQ(stats.bytes_read, 200U * 784);
}

TEST(UnitStats, time_is_added_to_the_stage_that_took_it) {
  const auto slow = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(2ms); };
  const MemoryDataset dataset(40, {28, 28, 1}, slow);
  Loader loader(dataset, stats_mirroring, {.threads = 2, .batch = 8});
  while (loader.next() != nullptr) continue;
  const LoaderStats stats = loader.stats();
  EXPECT_GE(stats.busy_read, 0.080);
  EXPECT_LT(stats.busy_decode + stats.busy_augment, stats.busy_read / 4);
  EXPECT_GT(stats.busy_augment, 0);
  EXPECT_GT(stats.wait_seconds, 0.020) << "two workers need 40 ms; the consumer does nothing else";
  EXPECT_GT(stats.first_wait_seconds, 0);
  EXPECT_LE(stats.first_wait_seconds, stats.wait_seconds);
}

TEST(UnitStats, a_slow_consumer_finds_its_batches_ready) {
  constexpr std::uint64_t batch = 16, depth = 4;
  std::atomic<std::uint64_t> read{0};
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](auto, auto&) { ++read; });
  Loader loader(dataset, recipe("none"),
                {.threads = 2, .batch = batch, .epochs = 0, .engine = {.depth = depth}});
  loader.next();
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t taken = 1; taken <= 40; ++taken) {
    while (read < (taken + depth - 1) * batch) std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(3ms);  // the last sample has been read, but not yet copied
    loader.next();
  }
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  const LoaderStats stats = loader.stats();
  EXPECT_GT(stats.mean_filled, 2);
  EXPECT_LT(stats.wait_seconds - stats.first_wait_seconds, all.count() / 2);
}

TEST(UnitStats, slots_are_allocated_from_the_given_memory_and_released_to_it) {
  struct Counting final : PixelMemory {
    std::byte* allocate(std::size_t bytes) override {
      held += bytes;
      return plain_memory().allocate(bytes);
    }
    void release(std::byte* memory, std::size_t bytes) noexcept override {
      held -= bytes;
      plain_memory().release(memory, bytes);
    }
    std::size_t held = 0;
  } memory;
  const MemoryDataset dataset(100);
  {
    Loader loader(dataset, recipe("none"),
                  {.threads = 2, .batch = 10, .engine = {.depth = 5, .memory = &memory}});
    EXPECT_GE(memory.held, 5U * 10 * 784);
    while (const Batch* batch = loader.next()) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->pixels.data()) % 64, 0U);
    }
  }
  EXPECT_EQ(memory.held, 0U);
}

}  // namespace
}  // namespace feedrate::loader
