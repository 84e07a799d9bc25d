#include "formats/base/offsets.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace feedrate::formats {
namespace {

constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;

TEST(UnitOffsets, what_was_added_is_read_below_and_above_four_gib) {
  Offsets narrow(four_gib - 1), wide(four_gib);
  EXPECT_TRUE(narrow.empty());
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, four_gib - 1}) {
    narrow.push_back(number);
    wide.push_back(number);
    EXPECT_EQ(narrow.back(), number);
    EXPECT_EQ(wide.back(), number);
  }
  wide.push_back(four_gib);
  wide.push_back((std::uint64_t{1} << 48) - 1);
  EXPECT_EQ(wide[3], four_gib);
  EXPECT_EQ(wide.back(), (std::uint64_t{1} << 48) - 1);
  EXPECT_EQ(wide.size(), 5U);
  EXPECT_EQ(narrow.size(), 3U);
  EXPECT_EQ(wide.front(), 0U);
}

TEST(UnitOffsets, sorting_orders_numbers_of_both_widths) {
  for (const std::uint64_t unit : {std::uint64_t{1}, four_gib}) {
    Offsets list(9 * unit);
    for (const std::uint64_t number : {3, 9, 1, 4}) list.push_back(number * unit);
    list.sort(std::greater<>());
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(list[i], (std::array{9, 4, 3, 1})[i] * unit);
    list.sort(std::less<>());
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(list[i], (std::array{1, 3, 4, 9})[i] * unit);
    list.sort(std::less<>());
    EXPECT_EQ(list.front(), unit) << "sorted already";
  }
  Offsets none;
  none.sort(std::less<>());
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace feedrate::formats
