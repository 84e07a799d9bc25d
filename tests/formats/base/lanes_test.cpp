#include "formats/base/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace feedrate::formats {
namespace {

using Values = std::array<std::uint8_t, lanes>;

Lanes lanes_of(const Values& values) {
  return load_lanes(reinterpret_cast<const std::byte*>(values.data()));
}

Values values_of(Lanes lanes) {
  Values values;
  store_lanes(reinterpret_cast<std::byte*>(values.data()), lanes);
  return values;
}

TEST(UnitLanes, compute_what_a_loop_does) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    Values a, b;
    for (std::size_t i = 0; i < lanes; ++i) {
      a[i] = static_cast<std::uint8_t>(random());
      b[i] = static_cast<std::uint8_t>(random() % 3 == 0 ? a[i] : random());
    }
    const Values mean = values_of(average(lanes_of(a), lanes_of(b)));
    const Values rest = values_of(minus_down_to_0(lanes_of(a), lanes_of(b)));
    const Values least = values_of(smaller(lanes_of(a), lanes_of(b)));
    const LaneSums halves = sums(lanes_of(a));
    LaneBits equal = equal_lanes(lanes_of(a), lanes_of(b));
    unsigned sum = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      ASSERT_EQ(mean[i], (a[i] + b[i]) / 2);
      ASSERT_EQ(rest[i], std::max(a[i] - b[i], 0));
      ASSERT_EQ(least[i], std::min(a[i], b[i]));
      sum += a[i];
      if (i == 7) {
        ASSERT_EQ(halves[0], sum);
      }
      if (a[i] != b[i]) continue;
      ASSERT_NE(equal, 0U);
      ASSERT_EQ(first_lane(equal), i);
      equal &= ~(((LaneBits{1} << lane_bits) - 1) << (i * lane_bits));
    }
    ASSERT_EQ(halves[0] + halves[1], sum);
    ASSERT_EQ(equal, 0U);
  }
}

TEST(UnitLanes, widen_four_bytes_and_narrow_them_again) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const auto four = static_cast<std::int32_t>(random());
    const WideLanes wide = widened(four);
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_EQ(wide[i], static_cast<std::uint8_t>(static_cast<unsigned>(four) >> (8 * i)));
    }
    ASSERT_EQ(narrowed(wide), four);
  }
}

}  // namespace
}  // namespace feedrate::formats
