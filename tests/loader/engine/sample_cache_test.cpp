#include "loader/engine/sample_cache.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/loader/batches.h"
#include "tests/support/format_pairs.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

const Recipe& none() { return recipe("none"); }

TEST(UnitSampleCache, what_is_kept_is_read_once_and_the_rest_each_epoch) {
  std::atomic<std::uint64_t> reads{0};
  const MemoryDataset dataset(1000, {28, 28, 1}, [&](std::uint64_t, Sample&) { ++reads; });
  const LoaderOptions options{.threads = 3, .batch = 20, .epochs = 4};
  const auto reference = digests(dataset, none(), options);
  for (const std::uint64_t bytes : {0U, 500'000U, 10'000'000U}) {
    const SampleCache cache(dataset, bytes);
    reads = 0;
    EXPECT_EQ(digests(cache, none(), options), reference);
    const std::uint64_t kept = cache.samples_kept();
    EXPECT_EQ(reads, 4 * 1000 - 3 * kept) << "none of the kept ever went";
    EXPECT_LE(cache.bytes_kept(), bytes);
    EXPECT_EQ(kept == 0, bytes == 0);
    EXPECT_EQ(kept == 1000, bytes == 10'000'000U);
    if (kept < 1000) {
      EXPECT_GT(cache.bytes_kept() + 2000, bytes) << "full";
    }
  }
}

TEST(ConformanceSampleCache, every_format_gives_the_same_samples_with_all_that_is_known_of_them) {
  const TempDirectory directory;
  const auto examples = make_examples({20, 18, 3}, 30);
  for (const FormatPair& pair : format_pairs()) {
    const auto path = directory / pair.name();
    write_dataset(*pair.container, *pair.codec, path, examples);
    const auto dataset = open_dataset(path);
    const SampleCache cache(*dataset, 10'000'000);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint64_t i = 0; i < dataset->size(); ++i) {
        Scratch ours, theirs;
        const Sample kept = cache.read(i, ours), read = dataset->read(i, theirs);
        EXPECT_TRUE(std::ranges::equal(kept.bytes, read.bytes)) << pair.name();
        EXPECT_TRUE(std::ranges::equal(kept.boxes, read.boxes)) << pair.name();
        EXPECT_TRUE(std::ranges::equal(kept.labels, read.labels)) << pair.name();
        EXPECT_EQ(kept.name, read.name) << pair.name();
        EXPECT_EQ(kept.label, read.label) << pair.name();
        EXPECT_EQ(kept.shape, read.shape) << pair.name();
        EXPECT_EQ(kept.codec, read.codec) << pair.name();
        EXPECT_EQ(kept.order, read.order) << pair.name();
      }
    }
    EXPECT_EQ(cache.samples_kept(), dataset->size());
  }
}

TEST(HostileSampleCache, a_sample_that_cannot_be_read_is_not_kept_and_named_each_time) {
  const auto broken = [](std::uint64_t index, Sample&) {
    if (index % 10 == 3) throw Error("broken");
  };
  const MemoryDataset dataset(100, {28, 28, 1}, broken);
  const SampleCache cache(dataset, 1'000'000);
  Loader loader(cache, none(), {.threads = 2, .epochs = 3, .on_bad = BadPolicy::skip});
  std::uint64_t images = 0;
  while (const Batch* batch = loader.next()) images += batch->count;
  EXPECT_EQ(images, 3U * 90);
  EXPECT_EQ(loader.bad_samples().size(), 10U);
  EXPECT_EQ(cache.samples_kept(), 90U);
}

}  // namespace
}  // namespace feedrate::loader
