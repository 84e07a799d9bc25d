// Bad samples under each policy: the same batches at any thread count, damage included.

#include "loader/bad.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "formats/io/file.h"
#include "tests/loader/batches.h"
#include "tests/loader/mirroring.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

const Mirroring bad_mirroring;
// Every 10th sample cannot be read, every 7th cannot be decoded. Labels are indices.
void damage(std::uint64_t index, Sample& sample) {
  sample.label = static_cast<std::int32_t>(index);
  if (index % 10 == 3) throw Error("the bytes are gone");
  if (index % 7 == 2) sample.bytes = sample.bytes.first(10);
}
bool is_bad(std::uint64_t index) { return index % 10 == 3 || index % 7 == 2; }

MemoryDataset damaged(std::uint64_t size) {
  MemoryDataset dataset(size, {28, 28, 1}, damage);
  dataset.set_classes(static_cast<std::uint32_t>(size));
  return dataset;
}

std::uint64_t bad_below(std::uint64_t size) {
  std::uint64_t bad = 0;
  for (std::uint64_t i = 0; i < size; ++i) bad += is_bad(i);
  return bad;
}

LoaderOptions tolerant(BadPolicy policy) {
  LoaderOptions options{.threads = 0, .batch = 32, .epochs = 2, .bad = {.policy = policy}};
  options.bad.budget = 1000;
  return options;
}

TEST(HostileBad, any_number_of_threads_gives_the_same_batches_and_list_in_spite_of_damage) {
  const MemoryDataset dataset = damaged(400);
  for (const Recipe* recipe : {&recipe("none"), static_cast<const Recipe*>(&bad_mirroring)}) {
    for (const BadPolicy policy : {BadPolicy::replace, BadPolicy::skip}) {
      std::vector<std::string> reference;
      std::vector<std::uint64_t> listed;
      for (const unsigned threads : {0U, 1U, 2U, 3U, 8U, 16U}) {
        LoaderOptions options = tolerant(policy);
        options.threads = threads;
        Loader loader(dataset, *recipe, options);
        const auto all = digests(loader);
        std::vector<std::uint64_t> list;
        for (const BadSample& bad : loader.bad_samples()) list.push_back(bad.index);
        if (threads == 0) {
          reference = all;
          listed = list;
        }
        EXPECT_EQ(all, reference) << recipe->name() << ", " << threads << " threads";
        EXPECT_EQ(list, listed) << recipe->name() << ", " << threads << " threads";
        EXPECT_EQ(list.size(), bad_below(400)) << "each once, though there were two epochs";
        EXPECT_EQ(loader.stats().bad_seats, 2 * bad_below(400));
      }
    }
  }
}

TEST(HostileBad, replace_keeps_batches_full_and_every_good_sample_in_its_seat) {
  const MemoryDataset dataset = damaged(400);
  const MemoryDataset sound(400);
  LoaderOptions options = tolerant(BadPolicy::replace);
  options.threads = 2;
  Loader loader(dataset, recipe("none"), options);
  Loader reference(sound, recipe("none"), options);
  while (const Batch* whole = reference.next()) {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    ASSERT_EQ(batch->count, whole->count);
    for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
      std::uint64_t wanted = 0;
      std::uint64_t found = 0;
      std::memcpy(&wanted, whole->pixels.data() + seat * std::size_t{784}, sizeof(wanted));
      std::memcpy(&found, batch->pixels.data() + seat * std::size_t{784}, sizeof(found));
      EXPECT_EQ(batch->labels[seat], static_cast<std::int32_t>(found));
      EXPECT_FALSE(is_bad(found));
      if (!is_bad(wanted)) {
        EXPECT_EQ(found, wanted);
      }
    }
  }
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(HostileBad, skip_gives_every_good_sample_once_and_no_bad_one) {
  const MemoryDataset dataset = damaged(400);
  LoaderOptions options = tolerant(BadPolicy::skip);
  options.threads = 3;
  options.epochs = 1;
  Loader loader(dataset, recipe("none"), options);
  std::set<std::int32_t> seen;
  std::uint64_t images = 0;
  while (const Batch* batch = loader.next()) {
    images += batch->count;
    EXPECT_EQ(batch->pixels.size(), batch->count * std::size_t{784});
    for (const std::int32_t label : batch->labels) {
      EXPECT_FALSE(is_bad(static_cast<std::uint64_t>(label)));
      EXPECT_TRUE(seen.insert(label).second);
    }
  }
  EXPECT_EQ(images, 400 - bad_below(400));
  EXPECT_EQ(loader.stats().images, images);
}

TEST(HostileBad, a_batch_of_bad_samples_only_is_left_out) {
  const auto first_are_bad = [](std::uint64_t index, Sample&) {
    if (index < 8) throw Error("gone");
  };
  const MemoryDataset dataset(16, {28, 28, 1}, first_are_bad);
  LoaderOptions options = tolerant(BadPolicy::skip);
  options.batch = 4;
  options.epochs = 1;
  options.order.shuffle = false;
  for (const unsigned threads : {0U, 2U}) {
    options.threads = threads;
    Loader loader(dataset, recipe("none"), options);
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->number, 2U);
    EXPECT_NE(loader.next(), nullptr);
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST(HostileBad, an_epoch_whose_last_batches_are_skipped_ends_with_the_last_that_is_not) {
  const auto last_are_bad = [](std::uint64_t index, Sample&) {
    if (index >= 8) throw Error("gone");
  };
  const MemoryDataset dataset(10, {28, 28, 1}, last_are_bad);
  LoaderOptions options = tolerant(BadPolicy::skip);
  options.order.shuffle = false;
  for (const std::uint32_t batch_size : {1U, 4U}) {  // the last two batches, and the last one
    options.batch = batch_size;
    for (const unsigned threads : {0U, 1U, 3U}) {
      if (batch_size == 1 && threads == 0) continue;  // sees one batch ahead
      options.threads = threads;
      Loader loader(dataset, recipe("none"), options);
      for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
        for (std::uint32_t images = batch_size; images <= 8; images += batch_size) {
          const Batch* batch = loader.next();
          ASSERT_NE(batch, nullptr);
          EXPECT_EQ(batch->epoch, epoch);
          EXPECT_EQ(batch->last_of_epoch, images == 8) << threads << " threads";
          EXPECT_EQ(loader.state().epoch, images == 8 ? epoch + 1 : epoch);
          EXPECT_EQ(loader.state().position, images == 8 ? 0 : images);
        }
      }
      EXPECT_EQ(loader.next(), nullptr);
      EXPECT_EQ(loader.bad_samples().size(), 2U);
    }
  }
}

TEST(HostileBad, the_budget_ends_the_run_at_the_same_sample_at_any_thread_count) {
  const MemoryDataset dataset = damaged(400);
  std::set<std::string> ends;
  for (const unsigned threads : {0U, 1U, 4U}) {
    LoaderOptions options = tolerant(BadPolicy::replace);
    options.threads = threads;
    options.bad.budget = 5;
    Loader loader(dataset, recipe("none"), options);
    try {
      while (loader.next() != nullptr) continue;
      FAIL() << "no error";
    } catch (const Error& error) {
      ends.insert(error.what());
    }
    EXPECT_EQ(loader.bad_samples().size(), 6U);
    EXPECT_EQ(loader.next(), nullptr);
  }
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_NE(ends.begin()->find("6 bad samples, more than the 5"), std::string::npos);
  EXPECT_NE(ends.begin()->find("memory: sample "), std::string::npos);
}

TEST(HostileBad, a_label_outside_the_classes_is_bad) {
  const auto mislabel = [](std::uint64_t index, Sample& sample) {
    if (index == 5) sample.label = 10;
    if (index == 6) sample.label = -1;
  };
  const MemoryDataset dataset(20, {28, 28, 1}, mislabel);
  LoaderOptions options{.threads = 2, .batch = 20, .order = {.shuffle = false}};
  expect_error([&] { Loader(dataset, recipe("none"), options).next(); },
               {"sample 5", "label 10", "10 classes"});
  options.bad.policy = BadPolicy::skip;
  Loader loader(dataset, recipe("none"), options);
  EXPECT_EQ(loader.next()->count, 18U);
}

TEST(HostileBad, beyond_the_budget_the_last_bad_sample_is_named_with_its_place) {
  const auto cut = [](std::uint64_t index, Sample& sample) {
    if (index == 3) sample.bytes = {};  // the decoder does not know the file
  };
  const MemoryDataset dataset(20, {28, 28, 1}, cut);
  LoaderOptions options{.threads = 0, .batch = 20, .bad = {.policy = BadPolicy::skip}};
  options.bad.budget = 0;
  expect_error([&] { Loader(dataset, recipe("none"), options).next(); },
               {"1 bad sample, more than the 0 allowed; the last one: memory", "sample 3"});
}

TEST(HostileBad, where_memory_runs_out_no_sample_is_to_blame) {
  const MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample&) {
    if (index == 40) throw std::bad_alloc();
  });
  for (const BadPolicy policy : {BadPolicy::fail, BadPolicy::skip, BadPolicy::replace}) {
    for (const unsigned threads : {0U, 3U}) {
      LoaderOptions options = tolerant(policy);
      options.threads = threads;
      Loader loader(dataset, bad_mirroring, options);
      const auto all = [&] {
        while (loader.next() != nullptr) {
        }
      };
      EXPECT_THROW(all(), std::bad_alloc) << threads;
    }
  }
}

TEST(HostileBad, without_good_samples_there_is_no_substitute) {
  const auto gone = [](std::uint64_t, Sample&) { throw Error("gone"); };
  const MemoryDataset dataset(20, {28, 28, 1}, gone);
  LoaderOptions options = tolerant(BadPolicy::replace);
  expect_error([&] { Loader(dataset, recipe("none"), options).next(); },
               {"none of 100 substitutes", "gone"});
  options.bad.policy = BadPolicy::skip;
  EXPECT_EQ(Loader(dataset, recipe("none"), options).next(), nullptr);
}

TEST(HostileBad, without_good_samples_a_run_without_end_ends) {
  const auto gone = [](std::uint64_t, Sample&) { throw Error("gone"); };
  for (const std::uint64_t size : {3U, 20U, 130U}) {
    const MemoryDataset dataset(size, {28, 28, 1}, gone);
    LoaderOptions options = tolerant(BadPolicy::skip);
    options.batch = 8;
    options.epochs = 0;
    for (const unsigned threads : {0U, 3U}) {
      options.threads = threads;
      Loader loader(dataset, recipe("none"), options);
      const std::string images = size == 3 ? "102" : size == 20 ? "100" : "130";
      expect_error([&] { loader.next(); }, {"all of the last " + images + " samples", "gone"});
      EXPECT_EQ(loader.next(), nullptr);
    }
  }
}

TEST(UnitBad, the_list_has_one_line_for_each_sample_whatever_its_text) {
  const TempDirectory directory;
  const BadSample bad[] = {{{"a/data.rec", 4096}, 7, "cat\t1.jpg", "torn\nin two"},
                           {{"a/data.rec", 9000}, 8, "", "gone"}};
  write_quarantine(directory / "bad.tsv", bad);
  EXPECT_EQ(read_text(directory / "bad.tsv"),
            "file\toffset\tindex\tkey\treason\n"
            "a/data.rec\t4096\t7\tcat 1.jpg\ttorn in two\n"
            "a/data.rec\t9000\t8\t\tgone\n");
}

}  // namespace
}  // namespace feedrate::loader
