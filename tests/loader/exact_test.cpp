// Exactness across formats, recipes, threads, ranks and resumes: what makes a run repeatable.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/format_pairs.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

// Every container × codec × recipe × pixel type × thread count. All formats that keep the order and
// the pixels give the same digests.
TEST(ConformanceExact, digests_depend_on_neither_threads_nor_format) {
  const TempDirectory directory;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> columns;
  for (const std::uint32_t channels : {1U, 3U}) {
    const std::vector<Example> examples = make_examples({40, 36, channels}, 45);
    for (const FormatPair& pair : format_pairs()) {
      const auto path = directory / join(pair.name(), channels);
      write_dataset(*pair.container, *pair.codec, path, examples);
      const auto dataset = open_dataset(path);
      for (const Recipe* row : recipes()) {
        try {
          row->shape(dataset->info().shape);
        } catch (const Error&) {
          continue;  // the recipe does not suit such images
        }
        for (const PixelType type : pixel_types) {
          LoaderOptions options{.threads = 0, .batch = 7, .epochs = 2, .pixels = {.type = type}};
          const auto reference = digests(*dataset, *row, options);
          for (const unsigned threads : {1U, 2U, 3U, 4U, 8U, 16U}) {
            if (type != PixelType::u8 && threads != (type == PixelType::f32 ? 3 : 16)) continue;
            options.threads = threads;
            EXPECT_EQ(digests(*dataset, *row, options), reference)
                << pair.name() << ", " << row->name() << ", " << name(type) << ", " << threads
                << " threads";
          }
          if (!pair.container->keeps_order()) continue;
          const bool lossy = pair.codec->has_quality();
          auto& column =
              columns[{join(row->name(), channels, name(type)), lossy ? "lossy" : "lossless"}];
          if (column.empty()) column = reference;
          EXPECT_EQ(column, reference) << pair.name() << ", " << row->name();
        }
      }
    }
  }
  EXPECT_GE(columns.size(), 18U) << "none and mnist in grey, none in colour, lossless and JPEG";
}

// The digest of each step of all ranks together, in the order of the ranks.
std::vector<std::string> joint_digests(const Dataset& dataset, LoaderOptions options) {
  std::vector<std::unique_ptr<Loader>> loaders;
  for (std::uint32_t rank = 0; rank < options.share.ranks; ++rank) {
    options.share.rank = rank;
    loaders.push_back(std::make_unique<Loader>(dataset, recipe("none"), options));
  }
  std::vector<std::string> all;
  for (bool more = true; more;) {
    more = false;
    Hasher labels;
    Hasher pixels;
    for (const auto& loader : loaders) {
      const Batch* batch = loader->next();
      if (batch == nullptr) continue;
      more = true;
      labels.add(std::as_bytes(batch->labels));
      pixels.add(std::as_bytes(batch->pixels));
    }
    if (more) all.push_back(hex(labels.finish()) + hex(pixels.finish()));
  }
  return all;
}

TEST(ConformanceRanks, all_ranks_together_give_what_one_loader_gives) {
  const MemoryDataset dataset(1000);
  for (const LastBatch last : {LastBatch::partial, LastBatch::drop, LastBatch::wrap}) {
    for (const std::uint64_t window : {0U, 100U}) {
      LoaderOptions options{.batch = 96, .epochs = 2, .order = {.window = window, .last = last}};
      const auto reference = joint_digests(dataset, options);
      EXPECT_EQ(reference.size(), last == LastBatch::drop ? 20U : 22U);
      for (const std::uint32_t ranks : {2U, 3U, 8U}) {
        options.share.ranks = ranks;
        options.batch = 96 / ranks;
        options.threads = ranks % 3;
        EXPECT_EQ(joint_digests(dataset, options), reference) << ranks << " ranks";
      }
    }
  }
}

TEST(ConformanceRanks, a_rank_alone_gives_the_same_at_any_thread_count) {
  const MemoryDataset dataset(1000);
  LoaderOptions options{.threads = 0, .batch = 32, .epochs = 2};
  options.share.rank = 2;
  options.share.ranks = 3;
  const auto reference = digests(dataset, recipe("none"), options);
  for (const unsigned threads : {1U, 4U}) {
    options.threads = threads;
    EXPECT_EQ(digests(dataset, recipe("none"), options), reference);
  }
}

// The labels from a state on, however they are cut into batches.
std::vector<std::int32_t> labels_from(const Dataset& dataset, LoaderOptions options,
                                      const LoaderState& state) {
  options.start = state;
  options.epochs -= state.epoch;
  std::vector<std::int32_t> labels;
  std::vector<std::unique_ptr<Loader>> loaders;
  for (std::uint32_t rank = 0; rank < options.share.ranks; ++rank) {
    options.share.rank = rank;
    loaders.push_back(std::make_unique<Loader>(dataset, recipe("none"), options));
  }
  for (bool more = true; more;) {
    more = false;
    for (const auto& loader : loaders) {
      const Batch* batch = loader->next();
      if (batch == nullptr) continue;
      more = true;
      labels.insert(labels.end(), batch->labels.begin(), batch->labels.end());
    }
  }
  return labels;
}

TEST(ConformanceRanks, a_state_resumes_with_other_ranks_threads_and_batch_sizes) {
  const auto number = [](std::uint64_t index, Sample& sample) {
    sample.label = static_cast<std::int32_t>(index);
  };
  MemoryDataset dataset(500, {3, 3, 1}, number);
  dataset.set_classes(500);
  const LoaderOptions whole{.threads = 2, .batch = 30, .epochs = 2, .start = {.seed = 9}};
  const auto reference = labels_from(dataset, whole, {.seed = 9});
  ASSERT_EQ(reference.size(), 1000U);
  Loader loader(dataset, recipe("none"), whole);
  EXPECT_EQ(loader.state(), (LoaderState{9, 0, 0}));
  std::size_t given = 0;
  while (const Batch* batch = loader.next()) {
    given += batch->count;
    const LoaderState state = loader.state();
    EXPECT_EQ(state.epoch * 500 + state.position, given);
    if (state.epoch == 2) break;
    const std::vector<std::int32_t> rest(reference.begin() + static_cast<std::ptrdiff_t>(given),
                                         reference.end());
    for (const std::uint32_t ranks : {1U, 2U, 5U}) {
      LoaderOptions other = whole;
      other.threads = ranks;
      other.batch = 7 * ranks;
      other.share.ranks = ranks;
      EXPECT_EQ(labels_from(dataset, other, state), rest) << "from " << given;
    }
  }
}

TEST(ConformanceExact, a_seed_of_draws_changes_what_is_drawn_and_not_the_order) {
  const MemoryDataset dataset(60, {32, 32, 3});
  const auto seen = [&](LoaderState start) {
    Loader loader(dataset, recipe("cifar-train+mixup"), {.batch = 20, .start = start});
    std::pair<std::vector<std::uint64_t>, std::vector<std::string>> all;
    while (const Batch* batch = loader.next()) {
      all.first.insert(all.first.end(), batch->indices.begin(), batch->indices.end());
      Hasher hasher;
      hasher.add(batch->bytes());
      all.second.push_back(hex(hasher.finish()));
    }
    EXPECT_EQ(loader.state(), (LoaderState{start.seed, start.epoch + 1, 0, start.draws}));
    return all;
  };
  const auto usual = seen({.seed = 9});
  const auto other = seen({.seed = 9, .draws = 8});
  EXPECT_EQ(seen({.seed = 9, .draws = 9}), usual);
  EXPECT_EQ(seen({.seed = 9, .draws = 8}), other);
  EXPECT_EQ(other.first, usual.first);
  for (std::size_t batch = 0; batch < usual.second.size(); ++batch) {
    EXPECT_NE(other.second[batch], usual.second[batch]);
  }
  const std::vector rest(other.second.begin() + 1, other.second.end());
  EXPECT_EQ(seen({.seed = 9, .position = 20, .draws = 8}).second, rest);
}

// Whatever asks a run for its end and goes on from there would otherwise ask for ever.
TEST(ConformanceRanks, a_state_that_leaves_no_batch_of_its_epoch_becomes_the_start_of_the_next) {
  const MemoryDataset dataset(10, {3, 3, 1});
  for (const auto& [position, last] : {std::pair{9U, LastBatch::drop},
                                       {10U, LastBatch::drop},
                                       {10U, LastBatch::partial},
                                       {10U, LastBatch::wrap}}) {
    Loader loader(dataset, recipe("none"),
                  {.batch = 4,
                   .epochs = 1,
                   .start = {.seed = 9, .epoch = 3, .position = position},
                   .order = {.last = last}});
    EXPECT_EQ(loader.next(), nullptr);
    EXPECT_EQ(loader.state(), (LoaderState{9, 4, 0})) << position;
  }
}

TEST(ConformanceRanks, wrap_fills_the_last_batch_with_the_epochs_first_images) {
  const auto number = [](std::uint64_t index, Sample& sample) {
    sample.label = static_cast<std::int32_t>(index);
  };
  MemoryDataset dataset(10, {3, 3, 1}, number);
  dataset.set_classes(10);
  Loader loader(dataset, recipe("none"),
                {.threads = 2, .batch = 4, .order = {.last = LastBatch::wrap}});
  std::vector<std::int32_t> labels;
  while (const Batch* batch = loader.next()) {
    EXPECT_EQ(batch->count, 4U);
    labels.insert(labels.end(), batch->labels.begin(), batch->labels.end());
  }
  ASSERT_EQ(labels.size(), 12U);
  EXPECT_EQ(labels[10], labels[0]);
  EXPECT_EQ(labels[11], labels[1]);
}

TEST(ConformanceRanks, resuming_deep_in_a_large_epoch_takes_less_than_50_ms) {
  const MemoryDataset dataset(1'281'167, {2, 2, 1});
  LoaderOptions options{.threads = 2, .batch = 64, .epochs = 0};
  options.start.epoch = 1000;
  options.start.position = 1'000'001;
  double best = 1e9;  // the best of five: other processes may hold the cores
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    Loader loader(dataset, recipe("none"), options);
    ASSERT_NE(loader.next(), nullptr);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  EXPECT_LT(best, 0.050);
}

TEST(HostileRanks, impossible_states_and_ranks_are_refused) {
  const MemoryDataset dataset(10);
  LoaderOptions options{.batch = 4};
  options.share.rank = 2;
  options.share.ranks = 2;
  expect_error([&] { Loader(dataset, recipe("none"), options); },
               {"expected a rank below the number of ranks, 2, found 2"});
  options.share.ranks = 11;
  options.share.rank = 10;
  expect_error([&] { Loader(dataset, recipe("none"), options); }, {"10 images", "11 ranks"});
  options = {.batch = 4};
  options.start.position = 11;
  expect_error([&] { Loader(dataset, recipe("none"), options); }, {"position 11", "10 images"});
}

}  // namespace
}  // namespace feedrate::loader
