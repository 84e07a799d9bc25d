// The number of workers changes during a run: the batches stay the same and no thread is left
// behind.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/loader/batches.h"
#include "tests/loader/gathering.h"
#include "tests/support/expect_error.h"
#include "tests/support/lateness.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

// Some samples take long, so that batches are filled out of order.
void uneven(std::uint64_t index, Sample&) {
  if (index % 37 == 0) std::this_thread::sleep_for(std::chrono::microseconds(index % 900));
}

TEST(ConformanceThreads, changes_in_mid_epoch_leave_every_batch_the_same) {
  const MemoryDataset dataset(1500, {30, 30, 3}, uneven);
  for (const std::uint32_t batch : {3U, 64U}) {
    LoaderOptions options{.threads = 3, .batch = batch, .epochs = 3};
    const auto reference = digests(dataset, recipe("none"), options);
    options.engine.max_threads = 9;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Loader loader(dataset, recipe("none"), options);
      std::size_t at = 0;
      while (const Batch* given = loader.next()) {
        ASSERT_EQ(batch_digest(*given), reference.at(at)) << "batch " << at;
        const SampleRandom random(seed, 0, at++);
        if (below(random.bits(0), 4) > 0) continue;
        const unsigned threads = 1 + below(random.bits(1), 9);
        loader.set_threads(threads);
        if (below(random.bits(2), 3) == 0) loader.set_threads(1 + below(random.bits(3), 9));
        if (below(random.bits(4), 3) == 0) std::this_thread::sleep_for(1ms);
      }
      EXPECT_EQ(at, reference.size());
    }
  }
}

TEST(ConformanceThreads, a_loader_that_tunes_itself_gives_the_same_batches) {
  const MemoryDataset dataset(1500, {30, 30, 3}, uneven);
  const LoaderOptions options{.threads = 2, .batch = 20, .epochs = 100};
  const auto reference = digests(dataset, recipe("none"), options);
  LoaderOptions tuned = options;
  tuned.engine.max_threads = 4;
  tuned.engine.tune = true;
  Loader loader(dataset, recipe("none"), tuned);
  EXPECT_EQ(digests(loader), reference);
  EXPECT_GT(loader.tuning().demand, 0) << "it has measured";
}

TEST(UnitThreads, as_many_work_at_once_as_were_requested_last) {
  Gathering gathering;
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](auto, auto&) { gathering.work(); });
  Loader loader(dataset, recipe("none"),
                {.threads = 2, .batch = 1, .epochs = 0, .engine = {.max_threads = 12}});
  for (const unsigned threads : {2U, 12U, 1U, 7U, 3U, 4U}) {
    loader.set_threads(threads);
    EXPECT_EQ(loader.stats().threads, threads);
    for (int i = 0; i < 40; ++i) loader.next();  // surplus workers finish their runs
    gathering.expect(threads);
    for (unsigned i = 0; i < 60 + 20 * threads; ++i) loader.next();
    EXPECT_EQ(gathering.peak(), threads);
    gathering.expect(0);
  }
}

// The threads that a tuned loader settles on for a consumer that takes a batch every 20 ms.
unsigned threads_for_a_slow_consumer() {
  const auto work = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(100us); };
  const MemoryDataset dataset(1000, {28, 28, 1}, work);
  Loader loader(
      dataset, recipe("none"),
      {.threads = 4, .batch = 4, .epochs = 0, .engine = {.max_threads = 4, .tune = true}});
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!loader.tuning().settled && std::chrono::steady_clock::now() < end) {
    loader.next();
    // A batch takes one thread a millisecond on an idle machine.
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(loader.tuning().settled);
  return loader.stats().threads;
}

TEST(UnitThreads, a_tuned_loader_gives_a_slow_consumer_one_thread) {
  constexpr unsigned tries = 3;
  for (unsigned i = 0; i < tries; ++i) {
    Lateness lateness;
    const unsigned threads = threads_for_a_slow_consumer();
    const bool quiet = lateness.ended() <= tolerated_lateness;
    if (threads == 1) return;
    ASSERT_FALSE(quiet) << "the search settled on " << threads << " threads";
  }
  GTEST_SKIP() << "the machine was not quiet: in " << tries << " searches, threads woke more than "
               << tolerated_lateness.count() << " ms late";
}

TEST(HostileThreads, impossible_numbers_of_threads_are_refused_and_change_nothing) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"),
                {.threads = 2, .batch = 10, .epochs = 0, .engine = {.max_threads = 5}});
  expect_error([&] { loader.set_threads(0); }, {"0 threads", "1 to 5"});
  expect_error([&] { loader.set_threads(6); }, {"6 threads", "1 to 5"});
  Loader greedy(dataset, recipe("none"),
                {.threads = 1, .batch = 10, .epochs = 0, .engine = {.max_threads = 300}});
  expect_error([&] { greedy.set_threads(300); }, {"300 threads", "2 are in use"});
  EXPECT_EQ(greedy.stats().threads, 1U);
  loader.set_threads(5);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_NE(greedy.next(), nullptr);
}

std::size_t threads_of_process() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    count += entry.is_directory() ? 1 : 0;
  }
  return count;
}

// CPU time of all threads, in clock ticks.
long processor_ticks() {
  std::ifstream file("/proc/self/stat");
  std::string word;
  long ticks = 0;
  for (int field = 1; file >> word && field <= 15; ++field) {
    if (field >= 14) ticks += std::stol(word);
  }
  return ticks;
}

// oneTBB keeps its threads asleep for the next loader: their number must not grow, and they must
// not run.
void expect_no_thread_left(const std::function<void()>& load_and_leave) {
  for (int i = 0; i < 3; ++i) load_and_leave();
  const std::size_t threads = threads_of_process();
  for (int i = 0; i < 20; ++i) load_and_leave();
  EXPECT_LE(threads_of_process(), threads);
  std::this_thread::sleep_for(50ms);  // oneTBB threads spin before they sleep
  const long ticks = processor_ticks();
  std::this_thread::sleep_for(300ms);
  EXPECT_LE(processor_ticks() - ticks, 3);
}

TEST(UnitThreads, destruction_in_mid_epoch_leaves_no_thread_behind) {
  const MemoryDataset dataset(1000, {28, 28, 1}, uneven);
  expect_no_thread_left([&] {
    Loader loader(dataset, recipe("none"),
                  {.threads = 6, .batch = 16, .epochs = 0, .engine = {.max_threads = 8}});
    for (int i = 0; i < 10; ++i) loader.next();
    loader.set_threads(2);
    loader.set_threads(8);
    for (int i = 0; i < 10; ++i) loader.next();
    loader.set_threads(3);
  });
}

TEST(UnitThreads, an_exception_in_a_worker_leaves_no_thread_behind) {
  const auto broken = [](std::uint64_t index, Sample&) {
    if (index == 500) throw Error("broken");
  };
  const MemoryDataset dataset(1000, {28, 28, 1}, broken);
  expect_no_thread_left([&] {
    Loader loader(dataset, recipe("none"),
                  {.threads = 6, .batch = 16, .epochs = 0, .engine = {.max_threads = 8}});
    expect_error(
        [&] {
          for (unsigned i = 1;; ++i) {
            loader.next();
            loader.set_threads(1 + i % 8);
          }
        },
        {"sample 500", "broken"});
    loader.set_threads(8);  // the loader has ended: new workers end at once
    EXPECT_EQ(loader.next(), nullptr);
  });
}

}  // namespace
}  // namespace feedrate::loader
