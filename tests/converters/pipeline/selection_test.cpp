#include "converters/pipeline/selection.h"

#include <gtest/gtest.h>

#include <numeric>

#include "formats/base/random.h"
#include "tests/converters/made_stream.h"
#include "tests/support/expect_error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;

/// The selected samples, by name.
std::vector<int> drain(SelectedStream& stream) {
  std::vector<int> indices;
  Sample sample;
  while (stream.next(sample)) indices.push_back(std::stoi(std::string(sample.name.substr(5))));
  return indices;
}

std::vector<int> selected(std::uint64_t count, const Selection& selection,
                          const Faults& faults = {}) {
  SelectedStream stream(made_stream(count, faults), selection);
  return drain(stream);
}

TEST(UnitSelection, without_options_it_is_the_stream) {
  SelectedStream stream(made_stream(5), {});
  EXPECT_EQ(stream.size(), 5U);
  EXPECT_EQ(drain(stream), (std::vector{0, 1, 2, 3, 4}));
}

TEST(UnitSelection, a_limit_ends_the_stream_early_and_never_makes_it_longer) {
  EXPECT_EQ(selected(5, {.limit = 3}), (std::vector{0, 1, 2}));
  EXPECT_EQ(selected(5, {.limit = 9}), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(SelectedStream(made_stream(5), {.limit = 3}).size(), 3U);
}

TEST(UnitSelection, counting_collects_a_stream_that_does_not_tell_its_size) {
  const Faults uncounted{.uncounted = true};
  EXPECT_EQ(SelectedStream(made_stream(7, uncounted), {}).size(), 0U);
  SelectedStream counted(made_stream(7, uncounted), {.counted = true});
  EXPECT_EQ(counted.size(), 7U);
  EXPECT_EQ(drain(counted), (std::vector{0, 1, 2, 3, 4, 5, 6}));
}

// The algorithm documented in selection.h, written again by hand.
TEST(UnitSelection, a_shuffle_is_fisher_and_yates_over_the_documented_numbers) {
  std::vector<std::uint32_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0U);
  for (std::uint32_t i = 99; i > 0; --i) {
    const std::uint64_t bits = random_bits(7, i);
    std::swap(expected[i], expected[((bits >> 32) * (i + 1)) >> 32]);
  }
  EXPECT_EQ(shuffled_order(7, 100), expected);
}

// Detects a change of the generator: a seed promises this order.
TEST(UnitSelection, a_seed_means_one_order_for_ever) {
  EXPECT_EQ(shuffled_order(0, 8), (std::vector<std::uint32_t>{2, 0, 5, 1, 7, 6, 3, 4}));
  EXPECT_EQ(shuffled_order(42, 8), (std::vector<std::uint32_t>{0, 7, 5, 3, 6, 1, 4, 2}));
}

TEST(UnitSelection, shuffled_samples_are_all_samples_in_that_order) {
  const std::vector<std::uint32_t> order = shuffled_order(3, 50);
  const std::vector<int> got = selected(50, {.shuffle = 3});
  ASSERT_EQ(got.size(), 50U);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<int>(order[i]));
}

TEST(UnitSelection, a_limit_takes_the_first_of_the_shuffled) {
  std::vector<int> all = selected(50, {.shuffle = 3});
  all.resize(20);
  EXPECT_EQ(selected(50, {.shuffle = 3, .limit = 20}), all);
}

TEST(UnitSelection, it_starts_at_any_position) {
  for (const bool shuffled : {false, true}) {
    Selection selection;
    if (shuffled) selection.shuffle = 9;
    std::vector<int> all = selected(30, selection);
    SelectedStream stream(made_stream(30), selection);
    stream.start_at(12);
    EXPECT_EQ(drain(stream), std::vector<int>(all.begin() + 12, all.end()));
  }
}

TEST(UnitSelection, orders_are_even) {
  // Each of 6 samples at each of 6 positions: about 1,000 times each in 6,000 orders.
  std::vector<int> seen(36);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const std::vector<std::uint32_t> order = shuffled_order(seed, 6);
    for (std::size_t at = 0; at < 6; ++at) ++seen[6 * at + order[at]];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);  // five standard deviations
}

TEST(HostileSelection, damage_met_while_collecting_keeps_its_words) {
  expect_error([] { selected(50, {.shuffle = 1}, {.fail_at = 30}); },
               {"made.tar:entry 7: byte 12"});
}

TEST(HostileSelection, a_bad_sample_that_was_collected_keeps_its_problem) {
  SelectedStream stream(made_stream(50, {.bad_at = 30}), {.shuffle = 1});
  int bad = 0;
  for (Sample sample; stream.next(sample);) {
    const bool is_bad = sample.name == "made-30.png";
    EXPECT_EQ(stream.problem(), is_bad ? "made.tar:entry 7: is bad" : "") << sample.name;
    bad += is_bad;
  }
  EXPECT_EQ(bad, 1);
}

}  // namespace
}  // namespace feedrate::converters
