// All curves are synthetic: nothing here was measured.

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

/// A run with the given rate in each slice.
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

TEST(UnitSettling, a_constant_rate_keeps_every_slice) {
  EXPECT_EQ(from([](std::size_t) { return 10'000.0; }), 0U);
  // A slow trainer, of whose steps a slice holds few.
  EXPECT_EQ(from([](std::size_t i) { return i % 2 == 0 ? 1000.0 : 1010.0; }), 0U);
}

TEST(UnitSettling, noise_drops_few_slices) {
  std::size_t lost = 0;
  constexpr std::uint64_t runs = 200;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    lost += from([&](std::size_t i) { return 10'000 + noise(seed, i, 500); });
  }
  EXPECT_LT(lost, runs * slices / 20);  // a twentieth of all slices
}

TEST(UnitSettling, a_slow_first_slice_is_left_out) {
  EXPECT_EQ(from([](std::size_t i) { return i == 0 ? 2000.0 : 10'000.0; }), 1U);
  EXPECT_EQ(from([](std::size_t i) { return i == 0 ? 2000 : 10'000 + noise(1, i, 300); }), 1U);
}

TEST(UnitSettling, an_initial_burst_of_ready_images_is_left_out) {
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

TEST(UnitSettling, a_negative_rate_in_the_first_slice_is_left_out) {
  auto marks = run([](std::size_t) { return 1000.0; });
  marks.front().images = 300;
  EXPECT_EQ(settled_from(marks), 1U);
}

TEST(UnitSettling, half_of_the_run_is_always_kept) {
  EXPECT_EQ(from([](std::size_t i) { return 1000.0 * static_cast<double>(i + 1); }), slices / 2);
  EXPECT_EQ(from([](std::size_t i) { return 50'000 - 2000.0 * static_cast<double>(i); }),
            slices / 2);
}

TEST(UnitSettling, a_change_of_less_than_one_percent_is_ignored) {
  EXPECT_EQ(from([](std::size_t i) { return 100'000 + 40.0 * static_cast<double>(i); }), 0U);
}

TEST(UnitSettling, too_few_slices_give_no_result) {
  EXPECT_FALSE(settled_from(run([](std::size_t) { return 1000.0; }, 7)));
  EXPECT_TRUE(settled_from(run([](std::size_t) { return 1000.0; }, 8)));
  EXPECT_FALSE(settled_from({}));
}

TEST(UnitSettling, a_rate_of_zero_is_constant) {
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
