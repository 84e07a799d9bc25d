#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "loader/loader.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

bool same_content(const Batch& a, const Batch& b) {
  return a.count == b.count && a.shape == b.shape &&
         std::memcmp(a.pixels.data(), b.pixels.data(), a.pixels.size()) == 0 &&
         std::memcmp(a.labels.data(), b.labels.data(), a.labels.size_bytes()) == 0;
}

TEST(UnitReplay, repeats_its_batches_in_turn_for_the_given_steps) {
  const MemoryDataset dataset(100);
  const LoaderOptions options{.threads = 2, .batch = 16};
  std::optional<Loader> source(std::in_place, dataset, recipe("none"), options);
  Replay replay(*source, 3, 10);
  source.reset();  // the replay owns its copies
  EXPECT_EQ(replay.shape(), (Shape{28, 28, 1}));
  EXPECT_EQ(replay.batch_size(), 16U);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const Batch* given = replay.next();
    ASSERT_NE(given, nullptr);
    EXPECT_EQ(given->number, step);
    Loader again(dataset, recipe("none"), options);
    const Batch* original = nullptr;
    for (std::uint64_t i = 0; i <= step % 3; ++i) original = again.next();
    EXPECT_TRUE(same_content(*given, *original)) << "step " << step;
  }
  EXPECT_EQ(replay.next(), nullptr);
}

TEST(UnitReplay, without_end_never_ends) {
  const MemoryDataset dataset(10);
  Loader source(dataset, recipe("none"), {.threads = 1, .batch = 10});
  Replay replay(source, 5, 0);  // the source has one batch only
  for (int i = 0; i < 100; ++i) ASSERT_NE(replay.next(), nullptr);
}

TEST(UnitReplay, a_source_without_batches_is_an_error) {
  const MemoryDataset dataset(10);
  Loader source(dataset, recipe("none"), {.threads = 1, .batch = 10});
  while (source.next() != nullptr) continue;
  expect_error([&] { Replay(source, 2, 0); }, {"no batch"});
}

}  // namespace
}  // namespace feedrate::loader
