// Curves are made up: nothing here was measured.

#include "loader/tuning/settling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "formats/base/random.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::size_t slices = 20;
constexpr double slice = 0.1;  // seconds

/// Between ± `size`, the same for the same number.
double noise(std::uint64_t seed, std::size_t number, double size) {
  return (2 * static_cast<double>(unit_float(random_bits(seed, number))) - 1) * size;
}

/// A run whose rate in each slice is as told.
std::vector<Mark> run(const std::function<double(std::size_t)>& rate, std::size_t count = slices) {
  std::vector<Mark> marks{{}};
  for (std::size_t i = 0; i < count; ++i) {
    Mark next = marks.back();
    next.seconds += slice;
    next.images += static_cast<std::uint64_t>(std::llround(rate(i) * slice));
    marks.push_back(next);
  }
  return marks;
}

std::size_t from(const std::function<double(std::size_t)>& rate) {
  return settled_from(run(rate)).value();
}

TEST(UnitSettling, an_even_rate_loses_nothing) {
  EXPECT_EQ(from([](std::size_t) { return 10'000.0; }), 0U);
  // Steps of a slow trainer, of which a slice holds few.
  EXPECT_EQ(from([](std::size_t i) { return i % 2 == 0 ? 1000.0 : 1010.0; }), 0U);
}

TEST(UnitSettling, noise_loses_little) {
  std::size_t lost = 0;
  constexpr std::uint64_t runs = 200;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    lost += from([&](std::size_t i) { return 10'000 + noise(seed, i, 500); });
  }
  EXPECT_LT(lost, runs * slices / 20);  // of a twentieth of all slices
}

TEST(UnitSettling, a_slow_first_slice_is_left_out) {
  EXPECT_EQ(from([](std::size_t i) { return i == 0 ? 2000.0 : 10'000.0; }), 1U);
  EXPECT_EQ(from([](std::size_t i) { return i == 0 ? 2000 : 10'000 + noise(1, i, 300); }), 1U);
}

TEST(UnitSettling, a_burst_of_what_lay_ready_is_left_out_too) {
  EXPECT_EQ(from([](std::size_t i) { return i < 2 ? 30'000.0 : 10'000.0; }), 2U);
  EXPECT_GE(from([](std::size_t i) { return i < 2 ? 30'000 : 10'000 + noise(2, i, 300); }), 2U);
}

TEST(UnitSettling, a_ramp_is_left_out_to_its_end) {
  const std::size_t found = from([](std::size_t i) {
    return std::min(1.0, 0.2 + 0.1 * static_cast<double>(i)) * 10'000 + noise(3, i, 200);
  });
  EXPECT_GE(found, 7U);
  EXPECT_LE(found, 9U);
}

TEST(UnitSettling, what_lay_ready_at_the_start_and_was_not_taken_in_the_first_slice_is_no_fault) {
  auto marks = run([](std::size_t) { return 1000.0; });
  marks.front().images = 300;
  EXPECT_EQ(settled_from(marks), 1U);
}

TEST(UnitSettling, half_of_a_run_is_kept_however_it_changes) {
  EXPECT_EQ(from([](std::size_t i) { return 1000.0 * static_cast<double>(i + 1); }), slices / 2);
  EXPECT_EQ(from([](std::size_t i) { return 50'000 - 2000.0 * static_cast<double>(i); }),
            slices / 2);
}

TEST(UnitSettling, a_change_of_less_than_one_percent_is_none) {
  EXPECT_EQ(from([](std::size_t i) { return 100'000 + 40.0 * static_cast<double>(i); }), 0U);
}

TEST(UnitSettling, too_few_slices_tell_nothing) {
  EXPECT_FALSE(settled_from(run([](std::size_t) { return 1000.0; }, 7)));
  EXPECT_TRUE(settled_from(run([](std::size_t) { return 1000.0; }, 8)));
  EXPECT_FALSE(settled_from({}));
}

TEST(UnitSettling, a_run_that_stood_still_is_no_fault) {
  EXPECT_EQ(from([](std::size_t) { return 0.0; }), 0U);
}

TEST(UnitSettling, marks_keep_their_distance_and_their_number) {
  Marks marks(2);
  for (std::uint64_t i = 0; i < 1000; ++i) marks.add({static_cast<double>(i) * 0.03, i, 0});
  EXPECT_GE(marks.all()[1].seconds - marks.all()[0].seconds, 0.1);
  EXPECT_LE(marks.all().size(), 42U);
  Marks none(0);
  none.add({});
  EXPECT_TRUE(none.all().empty());
}

}  // namespace
}  // namespace feedrate::loader
