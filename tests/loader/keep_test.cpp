// Batches that outlive their turn, the indices in them, and waiting for a limited time.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "loader/loader.h"
#include "loader/read_pixels.h"
#include "tests/loader/batches.h"
#include "tests/loader/mirroring.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

struct CountingMemory final : PixelMemory {
  std::byte* allocate(std::size_t bytes) override {
    ++allocations;
    ++held;
    return plain_memory().allocate(bytes);
  }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    --held;
    plain_memory().release(memory, bytes);
  }
  int allocations = 0;
  int held = 0;
};

struct Kept {
  std::shared_ptr<const std::byte> memory;
  Batch batch;
};

LoaderOptions small_ring(unsigned threads, PixelMemory& memory) {
  return {.threads = threads, .batch = 10, .engine = {.depth = 3, .memory = &memory}};
}

TEST(UnitKeep, all_batches_can_be_kept_though_there_are_only_a_few_slots) {
  const MemoryDataset dataset(1000);
  const auto reference = digests(dataset, recipe("none"), {.threads = 0, .batch = 10});
  for (const unsigned threads : {0U, 1U, 4U}) {
    CountingMemory memory;
    std::vector<Kept> all;
    {
      Loader loader(dataset, recipe("none"), small_ring(threads, memory));
      while (const Batch* batch = loader.next()) all.push_back({loader.keep(), *batch});
      EXPECT_EQ(loader.keep(), nullptr) << "no batch is in use";
    }
    ASSERT_EQ(all.size(), reference.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(batch_digest(all[i].batch), reference[i]) << threads << " threads, batch " << i;
    }
    EXPECT_EQ(memory.held, 100) << "what is kept outlives the loader";
    all.resize(1);
    EXPECT_EQ(memory.held, 1);
    all.clear();
    EXPECT_EQ(memory.held, 0);
  }
}

TEST(UnitKeep, memory_that_is_not_kept_any_more_is_used_again) {
  const MemoryDataset dataset(1000);
  CountingMemory memory;
  Loader loader(dataset, recipe("none"), small_ring(2, memory));
  std::shared_ptr<const std::byte> last;
  // As in Python, where a loop's variable still names the last batch when it asks for the next.
  while (loader.next() != nullptr) last = loader.keep();
  EXPECT_EQ(memory.allocations, 4) << "3 slots, and one that takes turns with them";
}

TEST(UnitKeep, another_thread_may_drop_a_batch_while_the_loader_works) {
  const MemoryDataset dataset(4000);
  const auto reference = digests(dataset, recipe("none"), {.threads = 0, .batch = 10});
  CountingMemory memory;
  Loader loader(dataset, recipe("none"), small_ring(3, memory));
  std::size_t number = 0;
  while (const Batch* batch = loader.next()) {
    std::jthread reader([kept = loader.keep(), copy = *batch, &expected = reference[number++]] {
      EXPECT_EQ(batch_digest(copy), expected);
    });
    if (number % 2 == 0) reader.join();
  }
  EXPECT_EQ(number, reference.size());
}

TEST(UnitKeep, indices_name_the_samples_of_a_batch) {
  const auto broken = [](std::uint64_t index, Sample&) {
    if (index % 10 == 3) throw Error("the bytes are gone");
  };
  const MemoryDataset dataset(400, {28, 28, 1}, broken);
  for (const BadPolicy policy : {BadPolicy::replace, BadPolicy::skip}) {
    Loader loader(dataset, recipe("none"),
                  {.threads = 2, .batch = 32, .bad = {.policy = policy, .budget = 400}});
    std::map<std::uint64_t, int> seen;
    while (const Batch* batch = loader.next()) {
      ASSERT_EQ(batch->indices.size(), batch->count);
      for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
        std::uint64_t shown = 0;  // by the image's first bytes
        std::memcpy(&shown, &batch->pixels[seat * batch->shape.bytes()], sizeof(shown));
        EXPECT_EQ(batch->indices[seat], shown);
        ++seen[shown];
      }
    }
    EXPECT_EQ(seen.size(), 360U) << "every good sample, and no bad one";
  }
}

TEST(UnitKeep, waiting_ends_after_the_limit_or_when_the_batch_is_there) {
  std::atomic<bool> open{false};
  const MemoryDataset dataset(100, {28, 28, 1}, [&](std::uint64_t, Sample&) { open.wait(false); });
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 10});
  EXPECT_FALSE(loader.wait(20ms));
  EXPECT_GE(loader.stats().wait_seconds, 0.02);
  open = true;
  open.notify_all();
  EXPECT_TRUE(loader.wait(10s));
  int batches = 0;
  while (loader.next() != nullptr) ++batches;
  EXPECT_EQ(batches, 10);
  EXPECT_TRUE(loader.wait(0ns)) << "at the end, next() does not wait";
}

TEST(HostileKeep, a_bad_sample_is_known_by_its_place) {
  const MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample&) {
    if (index == 42) throw Error("the bytes are gone");
  });
  for (const unsigned threads : {0U, 2U}) {
    Loader loader(dataset, recipe("none"), {.threads = threads, .batch = 10});
    try {
      while (loader.next() != nullptr) continue;
      FAIL() << "no error";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.sample().index, 42U);
      EXPECT_EQ(error.sample().place.file, "memory");
      EXPECT_EQ(error.what(), std::string("memory: sample 42: the bytes are gone"));
    }
  }
}

TEST(HostileKeep, a_place_is_named_though_its_name_is_a_word_of_the_reason) {
  MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample&) {
    if (index == 42) throw Error("the memory is damaged near byte 7");
  });
  for (const auto policy : {BadPolicy::fail, BadPolicy::skip}) {
    LoaderOptions options{.threads = 0, .batch = 10, .bad = {.policy = policy, .budget = 0}};
    Loader loader(dataset, recipe("none"), options);
    testing::expect_error(
        [&] {
          while (loader.next() != nullptr) continue;
        },
        {"memory: sample 42: the memory is damaged near byte 7"});
  }
  Scratch scratch;
  Buffer pixels;
  testing::expect_error([&] { read_pixels(dataset, 42, scratch, pixels); },
                        {"memory: sample 42: the memory is damaged"});
}

TEST(HostileKeep, a_reader_that_names_the_place_is_not_repeated) {
  const MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample&) {
    if (index == 42) fail("elsewhere/shard-3", "record 2: it is damaged");
  });
  Loader loader(dataset, recipe("none"), {.threads = 0, .batch = 10});
  try {
    while (loader.next() != nullptr) continue;
    FAIL() << "no error";
  } catch (const SampleError& error) {
    EXPECT_EQ(error.what(), std::string("elsewhere/shard-3: record 2: it is damaged"));
  }
}

}  // namespace
}  // namespace feedrate::loader
