#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "loader/loader.h"
#include "tests/loader/mirroring.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

const Mirroring mirroring;

const Recipe& none() { return recipe("none"); }

TEST(UnitStats, exactly_the_requested_threads_work_at_once_even_beyond_the_cores) {
  for (const unsigned threads : {1U, 2U, 4U, 16U, 64U}) {
    std::atomic<unsigned> working{0};
    std::atomic<unsigned> peak{0};
    const auto work = [&](std::uint64_t, Sample&) {
      const unsigned now = ++working;
      for (unsigned seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) continue;
      std::this_thread::sleep_for(1ms);
      --working;
    };
    const MemoryDataset dataset(1000, {28, 28, 1}, work);
    Loader loader(dataset, none(), {.threads = threads, .batch = 1, .epochs = 0});
    // A busy machine may start the last of them late. Once all have started, no more may start.
    for (unsigned i = 0; i < 20'000 && peak < threads; ++i) loader.next();
    for (unsigned i = 0; i < 8 * threads + 20; ++i) loader.next();
    EXPECT_EQ(loader.stats().workers_seen, threads);
    EXPECT_EQ(peak.load(), threads);
  }
}

TEST(UnitStats, without_workers_the_callers_thread_fills_and_that_counts_as_waiting) {
  std::set<std::thread::id> threads;
  const auto note = [&](std::uint64_t, Sample&) {
    threads.insert(std::this_thread::get_id());
    std::this_thread::sleep_for(1ms);
  };
  const MemoryDataset dataset(20, {28, 28, 1}, note);
  Loader loader(dataset, none(), {.threads = 0, .batch = 4});
  while (loader.next() != nullptr) continue;
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.workers_seen, 1U);
  EXPECT_GE(stats.wait_seconds, 0.020);
  EXPECT_GE(stats.wait_seconds, stats.busy_read + stats.busy_decode);
}

TEST(UnitStats, sums_are_what_was_handed_out) {
  const MemoryDataset dataset(100);
  Loader loader(dataset, none(), {.threads = 2, .batch = 32, .epochs = 2});
  while (loader.next() != nullptr) continue;
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.images, 200U);
  EXPECT_EQ(stats.batches, 8U);
  EXPECT_EQ(stats.bytes_read, 200U * 784);
}

TEST(UnitStats, time_is_added_to_the_stage_that_took_it) {
  const auto slow = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(2ms); };
  const MemoryDataset dataset(40, {28, 28, 1}, slow);
  Loader loader(dataset, mirroring, {.threads = 2, .batch = 8});
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
  const MemoryDataset dataset(1000);
  Loader loader(dataset, none(), {.threads = 2, .batch = 16, .epochs = 0, .engine = {.depth = 4}});
  loader.next();
  for (int i = 0; i < 40; ++i) {
    std::this_thread::sleep_for(3ms);
    loader.next();
  }
  const LoaderStats stats = loader.stats();
  EXPECT_GT(stats.mean_filled, 2);
  EXPECT_LT(stats.wait_seconds - stats.first_wait_seconds, 0.060) << "of 120 ms and more";
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
    Loader loader(dataset, none(),
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
