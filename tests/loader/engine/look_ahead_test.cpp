#include "loader/engine/look_ahead.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "formats/dataset.h"
#include "formats/io/page_cache.h"
#include "tests/loader/batches.h"
#include "tests/support/format_pairs.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

/// Records what was requested. Its samples are in memory: no block is ever read.
class RecordingDataset final : public Dataset {
 public:
  explicit RecordingDataset(std::uint64_t size) : samples_(size) { info_ = samples_.info(); }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    await(read_after_);
    return samples_.read(index, scratch);
  }
  bool look_ahead(std::uint64_t index) const override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(index);
    more_.notify_all();
    return true;
  }
  std::vector<std::uint64_t> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// Until so many samples have been requested.
  void await(std::size_t count) const {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return asked_.size() >= count; });
  }
  /// Makes read() wait until this many samples have been requested, so that no worker overtakes the
  /// look-ahead thread, however late that starts.
  void read_after(std::size_t count) { read_after_ = count; }

 private:
  MemoryDataset samples_;
  std::size_t read_after_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable more_;
  mutable std::vector<std::uint64_t> asked_;
};

TEST(UnitLookAhead, requests_samples_in_their_order_and_pauses_for_data_in_memory) {
  RecordingDataset dataset(10'000);
  dataset.read_after(1 + 64);
  Loader loader(dataset, recipe("none"),
                {.threads = 1, .batch = 64, .epochs = 0, .start = {.seed = 5}});
  dataset.await(1 + 64);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::uint64_t> asked = dataset.asked();
  EXPECT_EQ(asked[0], 0U) << "the probe for support";
  const Order order(10'000, 5, 0, true);
  std::uint64_t position = 0;
  while (order.index(position) != asked[1]) ++position;
  EXPECT_LE(position, 16U * 64) << "runs claimed by then are left out";
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(asked[1 + i], order.index(position + i));
  // Then it requests a single run, of at most 64 images, twenty times a second, however long this
  // takes; and what it was at.
  std::this_thread::sleep_for(300ms);
  for (int i = 0; i < 500; ++i) loader.next();
  const auto rechecks =
      static_cast<std::size_t>((std::chrono::steady_clock::now() - start) / 50ms + 1);
  EXPECT_LE(dataset.asked().size(), asked.size() + 64 * (rechecks + 2));
}

TEST(UnitLookAhead, nothing_is_requested_without_threads) {
  const RecordingDataset dataset(1000);
  for (const LoaderOptions& options :
       {LoaderOptions{.threads = 0}, LoaderOptions{.threads = 2, .engine = {.io_threads = 0}}}) {
    Loader loader(dataset, recipe("none"), options);
    while (loader.next() != nullptr) continue;
    EXPECT_TRUE(dataset.asked().empty());
    EXPECT_EQ(loader.stats().asked_ahead, 0U);
  }
}

TEST(UnitLookAhead, samples_in_memory_get_no_thread) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 2});
  while (loader.next() != nullptr) continue;
  EXPECT_EQ(loader.stats().asked_ahead, 0U);
}

// Every container accepts requests for any sample, in memory or not; batches stay the same.
TEST(ConformanceLookAhead, batches_of_every_format_are_the_same_when_cold_and_read_ahead) {
  const TempDirectory directory;
  const std::vector<Example> examples = make_examples({40, 36, 3}, 90);
  for (const FormatPair& pair : format_pairs()) {
    const auto path = directory / pair.name();
    write_dataset(*pair.container, *pair.codec, path, examples);
    LoaderOptions options{.threads = 0, .batch = 7, .epochs = 3};
    const auto reference = digests(*open_dataset(path), recipe("none"), options);
    const std::vector<std::filesystem::path> files = sample_files(*open_dataset(path));
    EXPECT_FALSE(files.empty()) << pair.name();
    for (const unsigned io_threads : {1U, 3U}) {
      evict_from_page_cache(files);
      const auto dataset = open_dataset(path);
      options.threads = 2;
      options.engine.io_threads = io_threads;
      Loader loader(*dataset, recipe("none"), options);
      EXPECT_EQ(digests(loader), reference) << pair.name();
      for (std::uint64_t i = 0; i < dataset->size(); ++i) {
        EXPECT_TRUE(dataset->look_ahead(i)) << pair.name();
      }
    }
  }
}

TEST(UnitLookAhead, destruction_at_any_moment_ends_its_threads) {
  const RecordingDataset dataset(10'000);
  for (int i = 0; i < 200; ++i) {
    Loader loader(dataset, recipe("none"),
                  {.threads = 2, .batch = 8, .epochs = 0, .engine = {.io_threads = 3}});
    for (int k = 0; k < i % 7; ++k) loader.next();
  }
}

}  // namespace
}  // namespace feedrate::loader
