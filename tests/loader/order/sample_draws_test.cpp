#include "loader/order/sample_draws.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>

namespace feedrate::loader {
using namespace formats;

namespace {

TEST(UnitRandom, draws_are_pure_functions_known_at_compile_time) {
  static_assert(SampleRandom(1, 2, 3).bits(4) == SampleRandom(1, 2, 3).bits(4));
  static_assert(SampleRandom(1, 2, 3).bits(4) != SampleRandom(1, 2, 3).bits(5));
  static_assert(mix64(0) == 0xe220a8397b1dcdafU, "splitmix64's first output for state 0");
}

TEST(UnitRandom, seed_epoch_index_and_draw_each_make_new_bits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
      for (std::uint64_t index = 0; index < 64; ++index) {
        for (std::uint32_t draw = 0; draw < 8; ++draw) {
          seen.insert(SampleRandom(seed, epoch, index).bits(draw));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{8} * 8 * 64 * 8);
}

TEST(UnitRandom, unit_float_stays_below_one_and_centres_on_a_half) {
  EXPECT_LT(unit_float(~std::uint64_t{0}), 1.0F);
  EXPECT_EQ(unit_float(0), 0.0F);
  double sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    sum += static_cast<double>(unit_float(SampleRandom(1, 0, i).bits(0)));
  }
  EXPECT_NEAR(sum / 100000, 0.5, 5 * std::sqrt(1.0 / 12 / 100000));
}

TEST(UnitRandom, below_covers_its_range_evenly) {
  std::array<int, 7> counts{};
  for (std::uint64_t i = 0; i < 70000; ++i) ++counts.at(below(random_bits(3, i), 7));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(UnitRandom, flipping_one_bit_of_the_index_flips_half_of_the_bits) {
  double moved = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t a = SampleRandom(1, 0, i).bits(0);
    const std::uint64_t b = SampleRandom(1, 0, i ^ 1).bits(0);
    moved += std::popcount(a ^ b);
  }
  EXPECT_NEAR(moved / 1000, 32, 1);
}

}  // namespace
}  // namespace feedrate::loader
