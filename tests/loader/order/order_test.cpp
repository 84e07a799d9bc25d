#include "loader/order/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace feedrate::loader {
namespace {

std::vector<std::uint64_t> epoch_of(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) {
  const Order order(size, seed, epoch, true);
  std::vector<std::uint64_t> indices(size);
  for (std::uint64_t i = 0; i < size; ++i) indices[i] = order.index(i);
  return indices;
}

// By how many standard deviations Pearson's chi-square exceeds its expected value.
double chi_square_sigmas(const std::vector<double>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

TEST(UnitOrder, every_index_comes_once_an_epoch_at_every_size) {
  std::vector<std::uint64_t> sizes(300);
  std::iota(sizes.begin(), sizes.end(), 1);
  for (const std::uint64_t size : {1023U, 1024U, 1025U, 50000U, 60000U, 65537U}) {
    sizes.push_back(size);
  }
  for (const std::uint64_t size : sizes) {
    std::vector<int> seen(size);
    for (const std::uint64_t index : epoch_of(size, 7, size)) {
      ASSERT_LT(index, size);
      ASSERT_EQ(seen[index]++, 0) << "index " << index << " of " << size << " came twice";
    }
  }
}

TEST(UnitOrder, a_window_keeps_indices_near_their_positions_and_still_gives_each_once) {
  for (const std::uint64_t size : {1U, 2U, 100U, 1000U, 1001U, 4096U}) {
    for (const std::uint64_t window : {1U, 2U, 7U, 64U, 1000U, 5000U}) {
      for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
        const Order order(size, 3, epoch, true, window);
        std::vector<int> seen(size);
        std::uint64_t moved = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
          const std::uint64_t index = order.index(i);
          ASSERT_LT(index, size);
          ASSERT_EQ(seen[index]++, 0) << "index " << index << " of " << size << " came twice";
          ASSERT_LT(std::max(i, index) - std::min(i, index), window);
          moved += index != i;
        }
        if (window >= 64 && size >= 1000) {
          EXPECT_GT(moved, size * 9 / 10);
        }
      }
    }
  }
}

TEST(UnitOrder, windows_move_with_the_epoch_and_differ_from_each_other) {
  constexpr std::uint64_t window = 16;
  std::map<std::vector<std::int64_t>, int> patterns;
  bool crossed = false;  // whether windows straddle the multiples of 16
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const Order order(1600, 1, epoch, true, window);
    for (std::uint64_t start = 0; start < 1600; start += window) {
      std::vector<std::int64_t> pattern;
      for (std::uint64_t i = start; i < start + window; ++i) {
        pattern.push_back(static_cast<std::int64_t>(order.index(i) - start));
        crossed |= pattern.back() < 0;
      }
      ++patterns[pattern];
    }
  }
  EXPECT_TRUE(crossed);
  EXPECT_GT(patterns.size(), 4950U) << "of 5,000 windows";
}

TEST(UnitOrder, without_shuffle_it_is_the_identity) {
  const Order order(1000, 1, 2, false);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(order.index(i), i);
}

TEST(UnitOrder, the_order_never_changes) {
  // A checkpoint must resume with the same samples on any machine and in any later version.
  const std::vector<std::uint64_t> indices = epoch_of(60000, 1, 0);
  const std::vector<std::uint64_t> first(indices.begin(), indices.begin() + 4);
  EXPECT_EQ(first, (std::vector<std::uint64_t>{39801, 50326, 33240, 24848}));
}

TEST(UnitOrder, seeds_and_epochs_give_different_orders) {
  const auto base = epoch_of(5000, 1, 0);
  for (const auto& other : {epoch_of(5000, 1, 1), epoch_of(5000, 2, 0), epoch_of(5000, 0, 1)}) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < base.size(); ++i) same += base[i] == other[i];
    EXPECT_LT(same, 10U);  // one is expected by chance
  }
}

TEST(UnitOrder, every_permutation_of_three_is_about_equally_likely) {
  std::map<std::vector<std::uint64_t>, double> seen;
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) seen[epoch_of(3, 5, epoch)] += 1;
  ASSERT_EQ(seen.size(), 6U);
  std::vector<double> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square_sigmas(counts), 5);
}

TEST(UnitOrder, each_index_is_equally_likely_at_each_position) {
  for (const std::uint64_t size : {2U, 5U, 16U, 37U, 100U}) {
    std::vector<double> counts(size * size);
    for (std::uint64_t epoch = 0; epoch < 20000; ++epoch) {
      const auto indices = epoch_of(size, 11, epoch);
      for (std::size_t i = 0; i < size; ++i) counts[i * size + indices[i]] += 1;
    }
    EXPECT_LT(chi_square_sigmas(counts), 5) << "size " << size;
  }
}

TEST(UnitOrder, indices_at_small_lags_are_uncorrelated) {
  for (const std::uint64_t size : {1000U, 60000U, 65536U}) {
    for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
      const auto indices = epoch_of(size, 3, epoch);
      for (const std::size_t lag : {1U, 2U, 64U, 256U}) {
        double sum = 0;
        const double mean = static_cast<double>(size - 1) / 2;
        const double variance = (static_cast<double>(size * size) - 1) / 12;
        for (std::size_t i = 0; i + lag < size; ++i) {
          sum += (static_cast<double>(indices[i]) - mean) *
                 (static_cast<double>(indices[i + lag]) - mean);
        }
        const double terms = static_cast<double>(size - lag);
        EXPECT_LT(std::abs(sum / terms / variance) * std::sqrt(terms), 5)
            << "size " << size << " epoch " << epoch << " lag " << lag;
      }
    }
  }
}

TEST(UnitOrder, differences_of_neighbours_are_uniform) {
  constexpr std::uint64_t size = 65536;
  constexpr std::size_t bins = 256;
  std::vector<double> counts(bins);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    const auto indices = epoch_of(size, 9, epoch);
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const std::uint64_t difference = (indices[i + 1] - indices[i]) % size;
      counts[difference * bins / size] += 1;
    }
  }
  EXPECT_LT(std::abs(chi_square_sigmas(counts)), 5);
}

}  // namespace
}  // namespace feedrate::loader
