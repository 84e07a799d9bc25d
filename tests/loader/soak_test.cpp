// A soak test: for twenty seconds loaders start, stall, stop early and run side by side, and the
// digests of their batches stay the same.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "tests/loader/batches.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using Clock = std::chrono::steady_clock;

TEST(SlowLoader, twenty_seconds_of_changing_loads_never_change_a_batch) {
  const auto shake = [](std::uint64_t index, Sample&) {
    if (index % 97 == 0) std::this_thread::sleep_for(std::chrono::microseconds(index % 700));
  };
  const MemoryDataset dataset(700, {20, 20, 3}, shake);
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::string>> references;
  const auto end = Clock::now() + std::chrono::seconds(20);
  std::uint64_t round = 0;
  for (; Clock::now() < end; ++round) {
    const SampleRandom random(round, 0, 0);
    LoaderOptions options;
    options.threads = below(random.bits(0), 17);
    options.batch = 1 + below(random.bits(1), 8) * 30;
    options.order.shuffle = below(random.bits(2), 2) == 1;
    options.engine.depth = below(random.bits(3), 6);
    options.epochs = 2;
    options.diagnosis.trace = below(random.bits(4), 2) == 1;
    auto& reference = references[{options.batch, options.order.shuffle}];
    if (reference.empty()) {
      LoaderOptions alone = options;
      alone.threads = 0;
      reference = digests(dataset, recipe("none"), alone);
    }
    Loader loader(dataset, recipe("none"), options);
    LoaderOptions beside = options;
    beside.threads = below(random.bits(5), 5);
    Loader other(dataset, recipe("none"), beside);
    const std::uint32_t leave_after = below(random.bits(6), 100);
    std::size_t at = 0;
    while (const Batch* batch = loader.next()) {
      ASSERT_EQ(batch_digest(*batch), reference.at(at)) << "round " << round << " batch " << at;
      if (at % 3 == 0) other.next();
      if (below(random.bits(static_cast<std::uint32_t>(10 + at)), 50) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (++at > leave_after) break;
    }
    if (leave_after > reference.size()) {
      EXPECT_EQ(at, reference.size());
    }
  }
  EXPECT_GT(round, 20U);
}

}  // namespace
}  // namespace feedrate::loader
