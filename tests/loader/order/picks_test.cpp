// Epochs that are a list of samples, or draws by weight.

#include "loader/order/picks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "loader/labels.h"
#include "loader/order/joined.h"
#include "tests/loader/batches.h"
#include "tests/loader/mirroring.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

const Mirroring mirroring;

/// Mirrors half of the images.
class Chance final : public Recipe {
 public:
  Chance() : Recipe("chance", "for tests") {}
  Shape shape(Shape stored) const override { return stored; }
  View view(Shape stored, const SampleRandom& random) const override {
    View view = whole_view(stored);
    view.mirrored = random.bits(0) % 2 == 1;
    return view;
  }
};

std::vector<std::uint64_t> indices_of(const Dataset& dataset, const LoaderOptions& options) {
  std::vector<std::uint64_t> all;
  Loader loader(dataset, recipe("none"), options);
  while (const Batch* batch = loader.next()) {
    for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
      std::uint64_t shown = 0;  // by the image's first bytes
      std::memcpy(&shown, &batch->pixels[seat * batch->shape.bytes()], sizeof(shown));
      EXPECT_EQ(batch->indices[seat], shown);
      all.push_back(shown);
    }
  }
  return all;
}

TEST(UnitPicks, a_list_is_the_epoch) {
  const MemoryDataset dataset(100);
  const std::vector<std::uint64_t> list{7, 7, 99, 0, 42, 7, 3};
  const auto picks = listed(list, 100);
  const LoaderOptions as_listed{
      .threads = 2, .batch = 3, .order = {.shuffle = false, .picks = picks.get()}};
  EXPECT_EQ(indices_of(dataset, as_listed), list);
  auto shuffled = indices_of(dataset, {.threads = 0, .order = {.picks = picks.get()}});
  EXPECT_NE(shuffled, list);
  auto sorted = list;
  std::ranges::sort(sorted);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, sorted);
}

TEST(UnitPicks, batches_are_the_same_at_any_number_of_threads_and_resume_anywhere) {
  const MemoryDataset dataset(300);
  const auto labels = labels_of(dataset).of_samples;
  const std::unique_ptr<const Picks> all[] = {
      listed({5, 5, 5, 80, 3, 299, 200, 200, 1, 0, 17}, 300),
      weighted(balancing_weights(labels), 300), grouped_by_class(labels, 2, 2),
      mixed({{100, 1}, {50, 1}, {150, 0.1}}, 77, true)};
  for (const auto& picks : all) {
    LoaderOptions options{.threads = 0,
                          .batch = 4,
                          .epochs = 3,
                          .order = {.shuffle = picks->needs_shuffle(), .picks = picks.get()}};
    const auto whole = digests(dataset, mirroring, options);
    for (const unsigned threads : {1U, 2U, 8U}) {
      options.threads = threads;
      EXPECT_EQ(digests(dataset, mirroring, options), whole) << threads << " threads";
    }
    options.start = {.seed = 1, .epoch = 1, .position = 4};
    options.epochs = 2;
    const std::size_t skipped = (picks->size() + 3) / 4 + 1;
    EXPECT_EQ(digests(dataset, mirroring, options),
              (std::vector(whole.begin() + static_cast<std::ptrdiff_t>(skipped), whole.end())));
  }
}

TEST(UnitPicks, ranks_share_an_epoch_without_loss_or_repeat) {
  const MemoryDataset dataset(100);
  const auto picks = weighted(std::vector<double>(100, 1.0), 250);
  const auto whole =
      indices_of(dataset, {.threads = 1, .batch = 30, .order = {.picks = picks.get()}});
  std::vector<std::uint64_t> shared;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const auto part = indices_of(dataset, {.threads = 2,
                                           .batch = 10,
                                           .order = {.picks = picks.get()},
                                           .share = {.rank = rank, .ranks = 3}});
    shared.insert(shared.end(), part.begin(), part.end());
  }
  auto sorted = whole;
  std::ranges::sort(sorted);
  std::ranges::sort(shared);
  EXPECT_EQ(whole.size(), 250U);
  EXPECT_EQ(shared, sorted);
}

TEST(UnitPicks, a_sample_that_comes_twice_has_draws_of_its_own_each_time) {
  const Chance chance;
  const MemoryDataset dataset(1);
  const auto picks = listed(std::vector<std::uint64_t>(64, 0), 1);
  std::set<std::string> different;
  Loader loader(dataset, chance, {.threads = 1, .batch = 1, .order = {.picks = picks.get()}});
  while (const Batch* batch = loader.next()) different.insert(hex(sha256(batch->bytes())));
  EXPECT_EQ(different.size(), 2U) << "mirrored and not";
}

TEST(UnitPicks, draws_have_the_shares_of_their_weights) {
  const std::vector<double> weights{0, 1, 5, 0, 0.5, 1e-12, 3.5, 0};
  constexpr std::uint64_t draws = 100'000;
  const auto picks = weighted(weights, draws);
  for (const std::uint64_t epoch : {0U, 1U}) {
    std::vector<double> seen(weights.size());
    for (std::uint64_t pick = 0; pick < draws; ++pick) ++seen[picks->index(9, epoch, pick)];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double share = weights[i] / 10;
      EXPECT_NEAR(seen[i] / draws, share, 5 * std::sqrt(share / draws) + 1e-9) << i;
    }
  }
}

TEST(UnitPicks, balanced_classes_come_equally_often) {
  // Class 0 has 91 samples, the others one each.
  const MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample& sample) {
    sample.label = index < 91 ? 0 : static_cast<std::int32_t>(index - 90);
  });
  const auto picks = weighted(balancing_weights(labels_of(dataset).of_samples), 20'000);
  double first = 0;
  for (std::uint64_t pick = 0; pick < 20'000; ++pick)
    first += picks->index(1, 0, pick) < 91 ? 1 : 0;
  EXPECT_NEAR(first / 20'000, 0.1, 0.01);
}

TEST(UnitPicks, a_bad_sample_is_replaced_by_one_of_the_list) {
  const MemoryDataset dataset(100, {28, 28, 1}, [](std::uint64_t index, Sample&) {
    if (index == 3) throw Error("the bytes are gone");
  });
  const auto picks = listed({1, 2, 3, 4}, 100);
  for (const std::uint64_t index : indices_of(dataset, {.threads = 1,
                                                       .epochs = 20,
                                                       .order = {.picks = picks.get()},
                                                       .bad = {.policy = BadPolicy::replace}})) {
    EXPECT_TRUE(index == 1 || index == 2 || index == 4) << index;
  }
}

// Class c has c + 1 samples: 0 | 1 2 | 3 4 5 | …
std::vector<std::int32_t> stairs(std::int32_t classes) {
  std::vector<std::int32_t> labels;
  for (std::int32_t label = 0; label < classes; ++label)
    labels.insert(labels.end(), static_cast<std::size_t>(label) + 1, label);
  return labels;
}

TEST(UnitPicks, a_group_has_different_classes_and_different_samples_of_each) {
  const auto labels = stairs(11);
  const auto picks = grouped_by_class(labels, 4, 3);
  EXPECT_EQ(picks->size(), 66U / 12 * 12);
  std::set<std::vector<std::uint64_t>> groups;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    for (std::uint64_t group = 0; group < picks->size() / 12; ++group) {
      std::set<std::int32_t> classes;
      std::vector<std::uint64_t> indices;
      for (std::uint64_t one = 0; one < 4; ++one) {
        std::set<std::uint64_t> samples;
        std::int32_t label = 0;
        for (std::uint64_t each = 0; each < 3; ++each) {
          const std::uint64_t index = picks->index(5, epoch, group * 12 + one * 3 + each);
          if (each == 0) label = labels.at(index);
          EXPECT_EQ(labels.at(index), label);
          samples.insert(index);
          indices.push_back(index);
        }
        EXPECT_EQ(samples.size(), std::min(3, label + 1)) << "as many as the class has";
        classes.insert(label);
      }
      EXPECT_EQ(classes.size(), 4U);
      groups.insert(indices);
    }
  }
  EXPECT_GT(groups.size(), 245U) << "of 250";
}

TEST(UnitPicks, groups_go_through_all_classes_and_all_their_samples) {
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < 240; ++i) labels.push_back(i % 8);
  const auto picks = grouped_by_class(labels, 4, 5);
  std::vector<std::uint64_t> seen;
  for (std::uint64_t pick = 0; pick < picks->size(); ++pick)
    seen.push_back(picks->index(1, 3, pick));
  std::ranges::sort(seen);
  for (std::uint64_t i = 0; i < 240; ++i) EXPECT_EQ(seen.at(i), i) << "each once an epoch";
}

TEST(UnitPicks, groups_stay_whole_when_ranks_share_the_last_batches) {
  const MemoryDataset dataset(100);
  const auto picks = grouped_by_class(labels_of(dataset).of_samples, 2, 4);  // 12 groups
  std::uint64_t images = 0;
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    const LoaderOptions options{.threads = 2,
                                .batch = 24,
                                .order = {.shuffle = false, .picks = picks.get()},
                                .share = {.rank = rank, .ranks = 5}};
    Loader loader(dataset, recipe("none"), options);
    while (const Batch* batch = loader.next()) {
      ASSERT_EQ(batch->count % 8, 0U);
      images += batch->count;
      for (std::uint32_t seat = 0; seat < batch->count; ++seat)
        EXPECT_EQ(batch->labels[seat], batch->labels[seat / 4 * 4]) << rank << ", " << seat;
    }
  }
  EXPECT_EQ(images, 96U);
}

TEST(UnitPicks, a_mix_has_its_shares_and_no_sample_twice_before_all) {
  const auto picks = mixed({{1000, 0.7}, {100, 0.3}, {10, 0.01}}, 500, true);
  std::vector<int> seen(1110);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    int first = 0, second = 0;
    for (std::uint64_t pick = 0; pick < 500; ++pick) {
      const std::uint64_t index = picks->index(3, epoch, pick);
      ++seen.at(index);
      (index < 1000 ? first : second) += index < 1100 ? 1 : 0;
    }
    EXPECT_EQ(first, 347) << "500 × 0.7 / 1.01 is 346.5, the second largest remainder";
    EXPECT_EQ(second, 148);
  }
  for (std::size_t i = 0; i < 1110; ++i) {
    const int draws = i < 1000 ? 4 * 347 : i < 1100 ? 4 * 148 : 4 * 5;
    const int samples = i < 1000 ? 1000 : i < 1100 ? 100 : 10;
    EXPECT_GE(seen[i], draws / samples) << i;
    EXPECT_LE(seen[i], (draws + samples - 1) / samples) << i;
  }
  const auto in_order = mixed({{3, 1}, {2, 1}}, 4, false);
  std::vector<std::uint64_t> places;
  for (std::uint64_t pick = 0; pick < 4; ++pick) places.push_back(in_order->index(1, 0, pick));
  EXPECT_EQ(places, (std::vector<std::uint64_t>{0, 1, 3, 4}));
}

TEST(UnitPicks, joined_datasets_are_read_as_one_and_name_the_one_that_is_damaged) {
  const auto one = std::make_shared<MemoryDataset>(3);
  const auto other =
      std::make_shared<MemoryDataset>(5, Shape{28, 28, 1}, [](std::uint64_t index, Sample& sample) {
        if (index == 4) sample.shape = {7, 7, 1};
      });
  const Joined joined({one, other});
  EXPECT_EQ(joined.size(), 8U);
  Scratch scratch;
  EXPECT_EQ(joined.read(2, scratch).bytes.data(), one->read(2, scratch).bytes.data());
  EXPECT_EQ(joined.read(3, scratch).bytes.data(), other->read(0, scratch).bytes.data());
  expect_error([&] { indices_of(joined, {.threads = 2}); }, {"memory: sample 4 'image-4'"});
  const auto few = std::make_shared<MemoryDataset>(5);
  few->set_classes(7);
  expect_error([&] { Joined({one, few}); }, {"has 7 classes, but memory has 10"});
  one->set_classes(2, {"cat", "dog"});
  few->set_classes(2, {"cat", "fox"});
  expect_error([&] { Joined({one, few}); }, {"class 1 is 'fox'", "it is 'dog'"});
  const auto unstated = std::make_shared<MemoryDataset>(3);  // with the labels 0, 1, 2
  unstated->set_classes(0);
  expect_error(
      [&] {
        Joined({one, unstated});
      },
      {"has labels of 3 classes, but memory has 2: a mix needs the same"});
  const auto stated = std::make_shared<MemoryDataset>(5);
  EXPECT_EQ(Joined({stated, unstated}).info().classes, 10U);
  EXPECT_EQ(Joined({unstated, stated}).info().classes, 10U);
  const auto nameless = std::make_shared<MemoryDataset>(2);
  nameless->set_classes(2);
  expect_error([&] { Joined({nameless, one, few}); }, {"class 1 is 'fox'", "it is 'dog'"});
}

TEST(UnitPicks, a_window_would_keep_the_datasets_of_a_mix_apart) {
  const MemoryDataset dataset(8);
  const auto picks = mixed({{3, 1}, {5, 1}}, 8, true);
  LoaderOptions options{.batch = 4};
  options.order.picks = picks.get();
  options.order.window = 2;
  expect_error([&] { Loader(dataset, recipe("none"), options); }, {"window", "mix"});
}

TEST(HostilePicks, lists_and_weights_that_make_no_sense_are_refused) {
  expect_error([] { listed({}, 10); }, {"order", "lists no samples"});
  expect_error([] { listed({1, 10}, 10); }, {"index 10 at place 1", "10 samples"});
  expect_error([] { weighted({1, -1}, 5); }, {"sample 1", "expected 0 or more"});
  expect_error([] { weighted({std::numeric_limits<double>::quiet_NaN()}, 5); }, {"sample 0"});
  expect_error([] { weighted({std::numeric_limits<double>::infinity()}, 5); }, {"sample 0"});
  expect_error([] { weighted({0, 0}, 5); }, {"their sum is 0"});
  expect_error([] { weighted({1e308, 1e308}, 5); }, {"their sum is inf"});
  expect_error([] { weighted({}, 5); }, {"their sum is 0"});
  expect_error([] { weighted({1}, 0); }, {"at least 1 draw"});
  const std::vector<std::int32_t> labels{0, 0, 1};
  expect_error([&] { grouped_by_class(labels, 3, 1); }, {"3 classes requested", "samples of 2"});
  expect_error([&] { grouped_by_class(labels, 2, 0); }, {"at least 1 class and 1 sample"});
  expect_error([] { mixed({}, 5, true); }, {"names no dataset"});
  expect_error([] { mixed({{5, 0}}, 5, true); }, {"weight of dataset 0", "above 0"});
  expect_error([] { mixed({{5, 1}, {0, 1}}, 5, true); }, {"dataset 1 holds no samples"});
  expect_error([] { mixed({{5, 1}, {5, 1e-6}}, 10, true); }, {"dataset 1", "too small"});
  expect_error([] { mixed({{5, 1e308}, {5, 1e308}}, 10, true); }, {"sum of the weights"});
  // A share that was more than a number counts once left all draws to be dealt out one by one.
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t draws : {most / 2, most}) {
    EXPECT_EQ(mixed({{5, 1}}, draws, true)->size(), draws);
    EXPECT_EQ(mixed({{5, 0.1}, {5, 0.2}, {5, 0.7}}, draws, true)->size(), draws);
  }
  const MemoryDataset dataset(100);
  const auto picks = grouped_by_class(labels_of(dataset).of_samples, 2, 4);
  const auto refused = [&](LoaderOptions options, std::initializer_list<std::string_view> words) {
    options.order.picks = picks.get();
    expect_error([&] { Loader(dataset, recipe("none"), options); }, words);
  };
  refused({.batch = 12, .order = {.shuffle = false}}, {"batch: 12 images", "groups of 8"});
  refused({.batch = 16}, {"tear groups apart"});
  refused({.batch = 16, .start = {.position = 4}, .order = {.shuffle = false}},
          {"position 4", "a group of 8"});
}

}  // namespace
}  // namespace feedrate::loader
