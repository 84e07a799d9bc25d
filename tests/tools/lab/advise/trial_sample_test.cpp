// The sample of images on which `feedrate advise` tries conversions.

#include "tools/lab/advise/trial_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "formats/base/random.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// A survey of `count` images of two sizes: every third is nine times as large as the others.
Survey seen_photographs(std::uint64_t count) {
  Survey seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t decoded = (i % 3 == 0 ? 9 : 1) * 100'000;
    seen.samples.push_back(
        {.index = 2 * i, .label = 0, .bytes = decoded / 10 + mix64(i) % 5000, .decoded = decoded});
  }
  return seen;
}

TEST(UnitTrialSample, its_images_are_in_the_mean_as_large_as_all) {
  const Survey seen = seen_photographs(5000);
  double all = 0;
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const Survey::Seen& one : seen.samples) {
    bytes[one.index] = one.bytes;
    all += static_cast<double>(one.bytes) / 5000;
  }
  for (const std::uint64_t seed : {1, 2, 3}) {
    const TrialSample sample = draw_trial_sample(5000, seen, seed);
    // 256 MiB of images of 366,720 bytes.
    ASSERT_EQ(sample.indices.size(), (std::uint64_t{256} << 20) / 366'720);
    EXPECT_TRUE(std::ranges::is_sorted(sample.indices, std::ranges::less_equal()));
    double mean = 0;
    for (const std::uint64_t index : sample.indices) {
      mean += static_cast<double>(bytes.at(index)) / static_cast<double>(sample.indices.size());
    }
    // A random draw would have 4 %: the standard error for this many.
    EXPECT_NEAR(mean / all, 1, 0.01);
    EXPECT_LT(sample.doubt, 0.01);
    EXPECT_EQ(draw_trial_sample(5000, seen, seed).indices, sample.indices);
  }
}

TEST(UnitTrialSample, its_images_may_be_wrong_by_what_those_seen_may_be) {
  const Survey seen = seen_photographs(1800);
  const TrialSample all_seen = draw_trial_sample(1800, seen, 1);
  const TrialSample some_seen = draw_trial_sample(1'000'000, seen, 1);
  EXPECT_EQ(all_seen.indices, some_seen.indices);
  EXPECT_LT(all_seen.doubt, 0.01);
  EXPECT_NEAR(some_seen.doubt, 2 * 0.99 / std::sqrt(1800), 0.005);
  // Too few to choose among: evenly spread, with the doubt of a random draw.
  const TrialSample spread = draw_trial_sample(1'000'000, seen_photographs(900), 1);
  EXPECT_EQ(spread.indices.size(), all_seen.indices.size());
  EXPECT_GT(spread.indices.back(), 990'000U);
  EXPECT_GT(spread.doubt, some_seen.doubt);
}

TEST(UnitTrialSample, what_the_draw_could_not_balance_is_doubted) {
  TrialSample sample;
  Survey follows;  // half of each original
  Survey wild;     // unrelated to the originals
  Survey even;     // all alike, whatever the originals
  for (std::uint64_t i = 0; i < 400; ++i) {
    sample.bytes.push_back(100'000 + 500 * i);
    follows.samples.push_back({.index = i, .bytes = sample.bytes.back() / 2});
    wild.samples.push_back({.index = i, .bytes = i % 2 == 0 ? 50'000U : 150'000U});
    even.samples.push_back({.index = i, .bytes = 30'000});
  }
  EXPECT_NEAR(unforeseen_doubt(sample, follows), 0, 1e-4);
  EXPECT_EQ(unforeseen_doubt(sample, even), 0);
  // A standard deviation of half the mean, 400 images.
  EXPECT_NEAR(unforeseen_doubt(sample, wild), 2 * 0.5 / 20, 1e-3);
  sample.bytes.assign(400, 196'608);  // raw
  EXPECT_NEAR(unforeseen_doubt(sample, wild), 0.05, 1e-12);
  sample.bytes.clear();  // unknown
  EXPECT_NEAR(unforeseen_doubt(sample, wild), 0.05, 1e-12);
}

TEST(UnitTrialSample, of_a_small_dataset_it_is_all) {
  const TrialSample sample = draw_trial_sample(50, seen_photographs(50), 1);
  ASSERT_EQ(sample.indices.size(), 50U);
  EXPECT_EQ(sample.indices.back(), 49U);
  EXPECT_EQ(sample.doubt, 0);
}

}  // namespace
}  // namespace feedrate::tools
