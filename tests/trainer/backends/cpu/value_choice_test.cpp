#include "trainer/backends/cpu/products/value_choice.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {
namespace {

// pixels → conv → relu → pool → conv → relu → dense → loss: nodes 0 to 7.
Plan plan() {
  Builder b("values", {8, 8, 3}, 5);
  auto x = b.max_pool(b.relu(b.conv(b.input(1.0 / 64, 127), 16, 3, 1, 1, {})), 2, 2);
  x = b.relu(b.conv(x, 16, 3, 1, 1, {}));
  return make_plan(b.softmax_loss(b.dense(x, 5, {})), 4);
}

// As a word: n for a narrow value, w for a wide one, by node. `bf16` names products.
std::string types(const Plan& plan, const std::vector<std::size_t>& bf16,
                  NarrowValues where = NarrowValues::where_most) {
  std::vector<bool> narrow(plan.graph.nodes.size());
  for (const std::size_t i : bf16) narrow[i] = true;
  std::string word;
  for (const ValueType type : choose_value_types(plan, narrow, where)) {
    word += type == ValueType::bf16 ? 'n' : 'w';
  }
  return word;
}

TEST(UnitValueChoice, in_fp32_no_value_is_bf16) {
  EXPECT_EQ(types(plan(), {}), "wwwwwwww");
  EXPECT_EQ(types(plan(), {}, NarrowValues::where_any), "wwwwwwww");
}

TEST(UnitValueChoice, values_between_products_in_bf16_are_bf16_but_those_of_a_loss) {
  EXPECT_EQ(types(plan(), {1, 4, 6}), "nnnnnnww");
}

TEST(UnitValueChoice, the_products_that_exchange_more_values_decide) {
  EXPECT_EQ(types(plan(), {1}), "nnnnwwww")
      << "the second reads a quarter of what the first writes";
  EXPECT_EQ(types(plan(), {4}), "wwwwwwww") << "of a draw, and of the smaller part, nothing";
  EXPECT_EQ(types(plan(), {4}, NarrowValues::where_any), "wnnnnnww");
}

TEST(UnitBf16Value, rounds_to_the_nearest_and_halves_to_even) {
  const auto rounded = [](float value) { return float{Bf16(value)}; };
  const float step = 1.0F / 128;  // of bf16 from 1 to 2
  EXPECT_EQ(rounded(1 + 0.4F * step), 1);
  EXPECT_EQ(rounded(1 + 0.6F * step), 1 + step);
  EXPECT_EQ(rounded(1 + 0.5F * step), 1);
  EXPECT_EQ(rounded(1 + 1.5F * step), 1 + 2 * step);
  EXPECT_EQ(rounded(-3), -3);
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
}

TEST(UnitBf16Value, infinity_and_nan_stay_what_they_are) {
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(float{Bf16(Limits::infinity())}, Limits::infinity());
  EXPECT_EQ(float{Bf16(Limits::max())}, Limits::infinity()) << "nearer than the largest bf16";
  for (const std::uint32_t bits : {0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU}) {
    EXPECT_TRUE(std::isnan(float{Bf16(std::bit_cast<float>(bits))})) << bits;
  }
}

}  // namespace
}  // namespace feedrate::trainer::cpu
