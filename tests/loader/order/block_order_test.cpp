#include "loader/order/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace feedrate::loader {
namespace {

std::vector<std::uint64_t> indices(std::uint64_t size, std::uint64_t epoch, const Shuffling& how) {
  const BlockOrder order(size, 7, epoch, how);
  std::vector<std::uint64_t> all(size);
  for (std::uint64_t i = 0; i < size; ++i) all[i] = order.index(i);
  return all;
}

TEST(UnitBlockOrder, position_is_the_inverse_of_index) {
  for (const std::uint64_t size : {1U, 2U, 63U, 64U, 65U, 1000U, 4097U}) {
    const Order order(size, 3, 2, true);
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(order.position(order.index(i)), i) << size;
  }
}

TEST(UnitBlockOrder, every_index_comes_once_whatever_the_sizes) {
  for (const std::uint64_t size : {1U, 5U, 64U, 100U, 1001U, 5000U}) {
    for (const std::uint64_t block : {0U, 1U, 2U, 7U, 64U, 999U, 5000U, 9999U}) {
      for (const std::uint64_t window : {0U, 3U, 100U, 9999U}) {
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
          std::vector<std::uint64_t> all = indices(size, epoch, {true, window, block});
          std::ranges::sort(all);
          for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(all[i], i) << size << " " << block;
        }
      }
    }
  }
}

TEST(UnitBlockOrder, without_blocks_it_is_the_order_of_before) {
  const Order order(1000, 7, 4, true, 50);
  const std::vector<std::uint64_t> all = indices(1000, 4, {true, 50, 0});
  for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], order.index(i));
  const std::vector<std::uint64_t> plain = indices(1000, 4, {false, 0, 10});
  for (std::uint64_t i = 0; i < plain.size(); ++i) ASSERT_EQ(plain[i], i);
}

TEST(UnitBlockOrder, the_samples_of_a_block_come_within_two_windows) {
  constexpr std::uint64_t size = 10'007, block = 32, window = block * usual_blocks_together;
  const std::vector<std::uint64_t> all = indices(size, 1, {true, 0, block});
  std::vector<std::uint64_t> first(size / block + 1, size), last(size / block + 1, 0);
  for (std::uint64_t i = 0; i < size; ++i) {
    first[all[i] / block] = std::min(first[all[i] / block], i);
    last[all[i] / block] = std::max(last[all[i] / block], i);
  }
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_LT(last[i] - first[i], 2 * window) << i;
}

TEST(UnitBlockOrder, blocks_come_from_anywhere_and_change_with_the_epoch) {
  constexpr std::uint64_t size = 100'000, block = 50, window = 500;
  const std::vector<std::uint64_t> all = indices(size, 1, {true, window, block});
  std::set<std::uint64_t> blocks;
  std::uint64_t lowest = size, highest = 0;
  for (std::uint64_t i = 0; i < window; ++i) {
    blocks.insert(all[i] / block);
    lowest = std::min(lowest, all[i]);
    highest = std::max(highest, all[i]);
  }
  EXPECT_GE(blocks.size(), window / block);
  EXPECT_LE(blocks.size(), 2 * window / block + 2);
  EXPECT_GT(highest - lowest, size / 2);
  EXPECT_NE(all, indices(size, 2, {true, window, block}));
}

// The order is part of what a seed means: digests of others' runs depend on it.
TEST(UnitBlockOrder, the_order_does_not_change) {
  std::vector<std::uint64_t> all = indices(1000, 3, {true, 0, 8});
  all.resize(12);
  EXPECT_EQ(all,
            (std::vector<std::uint64_t>{802, 8, 800, 804, 805, 803, 806, 801, 807, 692, 930, 447}));
}

}  // namespace
}  // namespace feedrate::loader
