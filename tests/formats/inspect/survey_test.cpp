#include "formats/inspect/survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "formats/base/error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::formats {
namespace {

using testing::MemoryDataset;

SurveyLimits limits(std::uint64_t samples, unsigned threads = 1, double seconds = 0) {
  return {samples, seconds, threads};
}

std::vector<std::uint64_t> indices(const Survey& survey) {
  std::vector<std::uint64_t> all;
  for (const Survey::Seen& seen : survey.samples) all.push_back(seen.index);
  return all;
}

TEST(UnitSurvey, every_turn_finds_another_sample_and_the_first_of_them_lie_evenly) {
  for (const std::uint64_t size : {1U, 2U, 3U, 10U, 100U, 1000U, 4096U, 9699U, 30030U}) {
    std::vector<bool> met(size);
    for (std::uint64_t turn = 0; turn < size; ++turn) {
      const std::uint64_t index = evenly_spread(turn, size);
      ASSERT_LT(index, size);
      ASSERT_FALSE(met[index]) << index << " of " << size << " comes twice";
      met[index] = true;
    }
  }
  constexpr std::uint64_t size = 1'000'000, turns = 1000;
  std::set<std::uint64_t> seen{size};
  for (std::uint64_t turn = 0; turn < turns; ++turn) seen.insert(evenly_spread(turn, size));
  std::uint64_t last = 0;
  for (const std::uint64_t index : seen) {
    EXPECT_LE(index - last, 3 * size / turns);  // no gap is much wider than the mean
    last = index;
  }
}

TEST(UnitSurvey, turns_of_a_huge_dataset_do_not_overflow) {
  constexpr std::uint64_t size = std::uint64_t{1} << 50;
  EXPECT_LT(evenly_spread(size - 1, size), size);
  EXPECT_NE(evenly_spread(size - 1, size), evenly_spread(size - 2, size));
}

TEST(UnitSurvey, quantiles_are_the_nearest_ranks) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i <= 100; ++i) values.push_back(1000 + (i * 37) % 101);
  EXPECT_EQ(quantiles(values), (Quantiles{1000, 1005, 1050, 1095, 1100}));
  EXPECT_EQ(quantiles({7}), (Quantiles{7, 7, 7, 7, 7}));
  EXPECT_EQ(quantiles({9, 1}), (Quantiles{1, 1, 9, 9, 9}));
  EXPECT_EQ(quantiles({}), Quantiles{});
}

TEST(UnitSurvey, no_more_samples_than_asked_are_read) {
  std::atomic<int> reads = 0;
  const MemoryDataset dataset(5000, {4, 4, 1}, [&](std::uint64_t, Sample&) { ++reads; });
  const Survey some = survey(dataset, limits(300));
  EXPECT_EQ(reads, 300);
  EXPECT_EQ(some.looked(), 300U);
  EXPECT_EQ(survey(dataset, limits(0)).looked(), 5000U);
  EXPECT_EQ(survey(dataset, limits(7000)).looked(), 5000U);
}

TEST(UnitSurvey, labels_that_repeat_in_step_do_not_mislead_it) {
  const MemoryDataset dataset(100'000, {2, 2, 1});  // labels 0, 1, … 9, 0, …
  const Survey some = survey(dataset, limits(1000));
  ASSERT_EQ(some.class_counts.size(), 10U);
  for (const auto& [label, count] : some.class_counts) {
    EXPECT_GE(count, 80U) << label;
    EXPECT_LE(count, 120U) << label;
  }
}

TEST(UnitSurvey, it_is_the_same_at_any_number_of_threads) {
  const MemoryDataset dataset(20'000, {4, 4, 1}, [](std::uint64_t index, Sample& sample) {
    sample.shape = {static_cast<std::uint32_t>(1 + index % 7), 2, index % 3 == 0 ? 1U : 3U};
    if (index % 41 == 0) throw Error(join("sample ", index, " is damaged"));
  });
  const Survey alone = survey(dataset, limits(2000, 1));
  ASSERT_GT(alone.unreadable, 0U);
  for (const unsigned threads : {2U, 3U, 8U}) {
    const Survey together = survey(dataset, limits(2000, threads));
    EXPECT_EQ(indices(together), indices(alone));
    EXPECT_TRUE(std::ranges::is_sorted(indices(together)));
    EXPECT_EQ(together.class_counts, alone.class_counts);
    EXPECT_EQ(together.heights, alone.heights);
    EXPECT_EQ(together.grey, alone.grey);
    EXPECT_EQ(together.unreadable, alone.unreadable);
    EXPECT_EQ(together.first_unreadable, alone.first_unreadable);
  }
}

TEST(UnitSurvey, the_first_problem_is_that_of_the_first_look) {
  std::atomic<int> reads = 0;
  const MemoryDataset dataset(9, {4, 4, 1}, [&](std::uint64_t index, Sample&) {
    if (reads++ < 9 && index % 4 == 3) throw Error(join("sample ", index, " was torn"));
  });
  const Survey found = survey(dataset, limits(0, 2));
  EXPECT_EQ(found.unreadable, 2U);
  EXPECT_EQ(found.first_unreadable, "sample 3 was torn");
  EXPECT_EQ(reads, 9);
}

TEST(UnitSurvey, it_tells_what_the_samples_are_like) {
  const MemoryDataset dataset(100, {8, 8, 1}, [](std::uint64_t index, Sample& sample) {
    sample.shape = {static_cast<std::uint32_t>(100 + index), 50, index < 25 ? 1U : 3U};
    sample.bytes = sample.bytes.first(index < 50 ? 10 : 20);
    sample.codec = index < 90 ? &raw_codec : &png_codec;
    sample.label = index == 0 ? -1 : 7;
  });
  const Survey all = survey(dataset, limits(0, 2));
  EXPECT_EQ(all.heights.min, 100U);
  EXPECT_EQ(all.heights.max, 199U);
  EXPECT_EQ(all.widths, (Quantiles{50, 50, 50, 50, 50}));
  EXPECT_EQ(all.grey, 25U);
  EXPECT_EQ(all.total_bytes, 1500U);
  EXPECT_EQ(all.codecs.at("raw"), 90U);
  EXPECT_EQ(all.codecs.at("png"), 10U);
  EXPECT_EQ(all.class_counts, (std::map<std::int32_t, std::uint64_t>{{-1, 1}, {7, 99}}));
}

TEST(UnitSurvey, it_ends_in_time_when_reading_is_slow) {
  using namespace std::chrono_literals;
  const MemoryDataset dataset(10'000, {4, 4, 1},
                              [](std::uint64_t, Sample&) { std::this_thread::sleep_for(5ms); });
  const auto start = std::chrono::steady_clock::now();
  const Survey some = survey(dataset, limits(10'000, 4, 0.05));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);  // all would take 12 s
  EXPECT_GT(some.looked(), 0U);
  EXPECT_LT(some.looked(), 10'000U);
}

TEST(HostileSurvey, damaged_samples_are_counted_and_the_first_by_index_is_named) {
  const MemoryDataset dataset(1000, {4, 4, 1}, [](std::uint64_t index, Sample&) {
    if (index == 640 || index == 17) throw Error(join("sample ", index, " is damaged"));
  });
  const Survey all = survey(dataset, limits(0, 3));
  EXPECT_EQ(all.unreadable, 2U);
  EXPECT_EQ(all.samples.size(), 998U);
  EXPECT_EQ(all.looked(), 1000U);
  EXPECT_EQ(all.first_unreadable, "sample 17 is damaged");
}

TEST(HostileSurvey, a_dataset_of_nothing_but_damage_is_told_of) {
  const MemoryDataset dataset(50, {4, 4, 1}, [](std::uint64_t, Sample&) { throw Error("gone"); });
  const Survey none = survey(dataset);
  EXPECT_EQ(none.unreadable, 50U);
  EXPECT_TRUE(none.samples.empty());
  EXPECT_EQ(none.bytes, Quantiles{});
}

}  // namespace
}  // namespace feedrate::formats
