#include "loader/loader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

// Crops, resizes and mirrors by the sample's draws: if a draw depended on the thread, the pixels
// would differ.
class RandomCrop final : public Recipe {
 public:
  RandomCrop() : Recipe("random-crop", "for tests") {}
  Shape shape(Shape) const override { return {5, 6, 3}; }
  View view(Shape stored, const SampleRandom& random) const override {
    const Rect crop{below(random.bits(0), 4), below(random.bits(1), 3), stored.height - 4,
                    stored.width - 3};
    View view = resized_view(crop, 5, 6);
    view.mirrored = random.bits(2) % 2 == 0;
    return view;
  }
};
const RandomCrop random_crop;

std::uint64_t index_of(const Batch& batch, std::uint32_t seat) {
  std::uint64_t index = 0;
  std::memcpy(&index, batch.pixels.data() + seat * batch.shape.bytes(), sizeof(index));
  return index;
}

TEST(ConformanceLoader, any_number_of_threads_gives_the_same_batches) {
  const MemoryDataset dataset(333, {9, 7, 3});
  for (const Recipe* recipe : {&recipe("none"), static_cast<const Recipe*>(&random_crop)}) {
    for (const std::uint32_t batch : {1U, 7U, 64U, 333U, 1000U}) {
      for (const bool shuffle : {true, false}) {
        LoaderOptions options{
            .threads = 0, .batch = batch, .epochs = 2, .order = {.shuffle = shuffle}};
        const auto reference = digests(dataset, *recipe, options);
        ASSERT_EQ(reference.size(), 2 * ((333 + batch - 1) / batch));
        for (const unsigned threads : {1U, 2U, 3U, 4U, 8U, 16U}) {
          options.threads = threads;
          EXPECT_EQ(digests(dataset, *recipe, options), reference)
              << recipe->name() << ", " << threads << " threads, batches of " << batch;
        }
      }
    }
  }
}

TEST(ConformanceLoader, a_run_resumed_anywhere_gives_the_rest_of_the_whole_run) {
  const MemoryDataset dataset(100, {9, 7, 3});
  const LoaderOptions whole{.threads = 2, .batch = 16, .epochs = 3, .start = {.seed = 5}};
  const auto reference = digests(dataset, random_crop, whole);
  ASSERT_EQ(reference.size(), 21U);
  for (std::uint64_t start = 0; start <= reference.size(); ++start) {
    LoaderOptions rest = whole;
    rest.threads = static_cast<unsigned>(start % 4);
    rest.start.epoch = start / 7;
    rest.start.position = start % 7 * 16;
    rest.epochs = 3 - rest.start.epoch;
    if (rest.epochs == 0) continue;
    const std::vector<std::string> tail(reference.begin() + static_cast<std::ptrdiff_t>(start),
                                        reference.end());
    EXPECT_EQ(digests(dataset, random_crop, rest), tail) << "from batch " << start;
  }
}

TEST(ConformanceLoader, every_image_comes_once_an_epoch_with_its_own_label_and_pixels) {
  const MemoryDataset dataset(1000);
  Loader loader(dataset, recipe("none"), {.threads = 3, .batch = 64, .epochs = 3});
  std::vector<unsigned> seen(dataset.size());
  std::uint64_t number = 0;
  while (const Batch* batch = loader.next()) {
    EXPECT_EQ(batch->number, number);
    EXPECT_EQ(batch->epoch, number / 16);
    EXPECT_EQ(batch->last_of_epoch, number % 16 == 15);
    EXPECT_EQ(batch->count, batch->last_of_epoch ? 1000U % 64 : 64U);
    ASSERT_EQ(batch->labels.size(), batch->count);
    ASSERT_EQ(batch->pixels.size(), batch->count * batch->shape.bytes());
    for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
      const std::uint64_t index = index_of(*batch, seat);
      ASSERT_LT(index, dataset.size());
      EXPECT_EQ(batch->labels[seat], static_cast<std::int32_t>(index % 10));
      EXPECT_EQ(seen[index]++, batch->epoch) << "index " << index;
      const auto stored = dataset.pixels().subspan(index * 784, 784);
      EXPECT_EQ(std::memcmp(batch->pixels.data() + std::size_t{seat} * 784, stored.data(), 784), 0);
    }
    ++number;
  }
  EXPECT_EQ(number, 48U);
  EXPECT_EQ(loader.next(), nullptr) << "the end stays the end";
}

TEST(ConformanceLoader, drop_last_gives_only_full_batches) {
  const MemoryDataset dataset(100);
  Loader loader(dataset, recipe("none"),
                {.threads = 2, .batch = 32, .epochs = 2, .order = {.last = LastBatch::drop}});
  EXPECT_EQ(loader.batches_per_epoch(), 3U);
  unsigned batches = 0;
  while (const Batch* batch = loader.next()) {
    EXPECT_EQ(batch->count, 32U);
    ++batches;
  }
  EXPECT_EQ(batches, 6U);
}

TEST(ConformanceLoader, without_end_goes_on_into_later_epochs) {
  const MemoryDataset dataset(10);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 4, .epochs = 0});
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->epoch, i / 3);
  }
}

TEST(ConformanceLoader, slow_samples_do_not_change_the_order) {
  const auto pause = [](std::uint64_t index, Sample&) {
    if (index % 50 == 3) std::this_thread::sleep_for(10ms);
    if (index == 20) std::this_thread::sleep_for(50ms);
  };
  const MemoryDataset slow(200, {9, 7, 3}, pause);
  const MemoryDataset quick(200, {9, 7, 3});
  LoaderOptions options{.threads = 0, .batch = 8, .epochs = 2};
  const auto reference = digests(quick, random_crop, options);
  for (const unsigned threads : {1U, 3U, 8U}) {
    options.threads = threads;
    EXPECT_EQ(digests(slow, random_crop, options), reference) << threads << " threads";
  }
}

TEST(ConformanceLoader, a_batch_stays_as_it_is_until_the_next_is_asked_for) {
  const MemoryDataset dataset(64);
  Loader loader(dataset, recipe("none"),
                {.threads = 4, .batch = 4, .epochs = 0, .engine = {.depth = 3}});
  for (int i = 0; i < 20; ++i) {
    const Batch* batch = loader.next();
    const std::string before = batch_digest(*batch);
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(batch_digest(*batch), before);
  }
}

TEST(ConformanceLoader, any_depth_gives_the_same_batches) {
  const MemoryDataset dataset(300, {9, 7, 3});
  LoaderOptions options{.threads = 3, .batch = 16, .epochs = 2};
  const auto reference = digests(dataset, recipe("none"), options);
  for (const unsigned depth : {1U, 2U, 3U, 17U, 100U}) {
    options.engine.depth = depth;
    EXPECT_EQ(digests(dataset, recipe("none"), options), reference) << "depth " << depth;
  }
}

TEST(ConformanceLoader, several_loaders_work_side_by_side) {
  const MemoryDataset dataset(500);
  const LoaderOptions train{.threads = 4, .batch = 32, .epochs = 2};
  const LoaderOptions test{.threads = 3, .batch = 50, .epochs = 2, .order = {.shuffle = false}};
  const auto train_reference = digests(dataset, recipe("none"), train);
  const auto test_reference = digests(dataset, recipe("none"), test);
  Loader one(dataset, recipe("none"), train);
  Loader two(dataset, recipe("none"), test);
  std::vector<std::string> train_digests;
  std::vector<std::string> test_digests;
  for (bool more = true; more;) {
    more = false;
    for (auto [loader, all] : {std::pair(&one, &train_digests), std::pair(&two, &test_digests)}) {
      if (const Batch* batch = loader->next()) {
        all->push_back(batch_digest(*batch));
        more = true;
      }
    }
  }
  EXPECT_EQ(train_digests, train_reference);
  EXPECT_EQ(test_digests, test_reference);
}

TEST(HostileLoader, next_throws_for_a_bad_sample_by_name_after_the_good_batches) {
  const auto damage = [](std::uint64_t index, Sample&) {
    if (index == 77) throw Error("the bytes are gone");
  };
  const MemoryDataset dataset(200, {28, 28, 1}, damage);
  for (const unsigned threads : {0U, 1U, 2U, 8U}) {
    Loader loader(dataset, recipe("none"),
                  {.threads = threads, .batch = 16, .order = {.shuffle = false}});
    for (int i = 0; i < 4; ++i) {
      const Batch* batch = loader.next();
      ASSERT_NE(batch, nullptr);
      EXPECT_EQ(index_of(*batch, 0), static_cast<std::uint64_t>(i) * 16);
    }
    expect_error([&] { loader.next(); }, {"memory: sample 77", "the bytes are gone"});
    EXPECT_EQ(loader.next(), nullptr) << "an error ends the loader";
  }
}

TEST(HostileLoader, the_first_of_several_bad_samples_is_named_at_any_thread_count) {
  const auto damage = [](std::uint64_t index, Sample&) {
    if (index == 35) std::this_thread::sleep_for(20ms);
    if (index >= 35) throw Error("gone");
  };
  const MemoryDataset dataset(200, {128, 128, 3}, damage);  // a run is one sample
  for (const unsigned threads : {0U, 1U, 4U}) {
    Loader loader(dataset, recipe("none"),
                  {.threads = threads, .batch = 64, .order = {.shuffle = false}});
    expect_error([&] { loader.next(); }, {"sample 35", "gone"});
  }
}

TEST(HostileLoader, damage_found_while_decoding_names_dataset_and_sample) {
  const auto cut = [](std::uint64_t index, Sample& sample) {
    if (index == 5) sample.bytes = sample.bytes.first(100);
  };
  const MemoryDataset dataset(20, {28, 28, 1}, cut);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 4});
  expect_error(
      [&] {
        while (loader.next() != nullptr) continue;
      },
      {"memory: sample 5 'image-5'", "784", "100"});
}

TEST(HostileLoader, an_error_that_already_names_the_file_is_kept_as_it_is) {
  const auto damage = [](std::uint64_t, Sample&) { fail("memory/data.mdb", "page 3 is torn"); };
  const MemoryDataset dataset(20, {28, 28, 1}, damage);
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 4});
  try {
    loader.next();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "memory/data.mdb: page 3 is torn");
  }
}

TEST(HostileLoader, an_exception_of_a_library_becomes_an_error) {
  const auto damage = [](std::uint64_t index, Sample&) {
    if (index == 3) throw std::length_error("somewhere deep");
  };
  const MemoryDataset dataset(20, {28, 28, 1}, damage);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 4, .order = {.shuffle = false}});
  expect_error([&] { loader.next(); }, {"memory: sample 3", "somewhere deep"});
}

TEST(HostileLoader, an_image_of_another_size_is_named_with_both_sizes) {
  const auto shrink = [](std::uint64_t index, Sample& sample) {
    if (index == 9) sample.shape = {27, 28, 1};
  };
  const MemoryDataset dataset(20, {28, 28, 1}, shrink);
  for (const unsigned threads : {0U, 2U}) {
    Loader loader(dataset, recipe("none"), {.threads = threads, .batch = 4});
    expect_error(
        [&] {
          while (loader.next() != nullptr) continue;
        },
        {"sample 9 'image-9'", "28 x 28 x 1", "27 x 28 x 1", "none"});
  }
}

TEST(HostileLoader, an_implausible_size_allocates_nothing) {
  const auto swell = [](std::uint64_t, Sample& sample) { sample.shape = {65535, 65535, 3}; };
  const MemoryDataset dataset(20, {28, 28, 1}, swell);
  Loader loader(dataset, random_crop, {.threads = 1, .batch = 4});
  expect_error([&] { loader.next(); }, {"65535 x 65535 x 3"});
}

TEST(HostileLoader, requests_that_give_no_batch_are_refused_at_once) {
  const MemoryDataset empty(0);
  const MemoryDataset ten(10);
  const MemoryDataset colour(10, {28, 28, 3});
  expect_error([&] { Loader(empty, recipe("none"), {}); }, {"holds no samples"});
  expect_error([&] { Loader(ten, recipe("none"), {.batch = 0}); }, {"at least 1"});
  expect_error(
      [&] { Loader(ten, recipe("none"), {.batch = 11, .order = {.last = LastBatch::drop}}); },
      {"11", "10"});
  expect_error([&] { Loader(colour, recipe("mnist"), {}); }, {"memory", "mnist", "3 channels"});
  expect_error([&] { Loader(ten, recipe("none"), {.threads = 1000}); }, {"1000 threads", "256"});
  const LoaderOptions huge{
      .batch = 1U << 31, .order = {.last = LastBatch::wrap}, .engine = {.depth = 1U << 31}};
  expect_error([&] { Loader(ten, recipe("none"), huge); }, {"memory"});
}

TEST(HostileLoader, destruction_at_any_moment_leaves_nothing_running) {
  std::atomic<int> reading{0};
  const auto slowly = [&](std::uint64_t index, Sample&) {
    ++reading;
    if (index % 7 == 0) std::this_thread::sleep_for(100us);
    --reading;
  };
  const MemoryDataset dataset(300, {28, 28, 1}, slowly);
  for (unsigned i = 0; i < 100; ++i) {
    {
      Loader loader(dataset, recipe("none"), {.threads = 1 + i % 5, .batch = 8, .epochs = 0});
      for (unsigned taken = 0; taken < i % 4; ++taken) loader.next();
    }
    ASSERT_EQ(reading.load(), 0) << "a worker outlived its loader";
  }
}

TEST(HostileLoader, threads_are_given_back_when_loaders_end) {
  const MemoryDataset dataset(10);
  for (int i = 0; i < 10; ++i) {
    Loader loader(dataset, recipe("none"), {.threads = 200, .batch = 4});
    EXPECT_NE(loader.next(), nullptr);
    expect_error([&] { Loader(dataset, recipe("none"), {.threads = 200}); }, {"200 are in use"});
  }
}

}  // namespace
}  // namespace feedrate::loader
