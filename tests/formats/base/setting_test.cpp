// Rows of settings: what they take, what they refuse and in which words.

#include "formats/base/setting.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

enum class Fruit : std::uint8_t { apple, pear, plum };
constexpr std::string_view fruit_words[] = {"apple", "pear", "plum"};

struct Basket {
  std::uint32_t count = 4;
  std::optional<unsigned> people{};
  Fruit fruit = Fruit::pear;
  std::optional<double> share{};
  std::vector<double> weights{};
  bool washed = true;
};

template <class Of, class Visit>
requires std::is_same_v<std::remove_const_t<Of>, Basket>
void for_each_setting(Of& basket, const Visit& visit) {
  visit({.name = "piece_count", .unit = "N", .min = 1, .max = 9}, basket.count);
  visit({.name = "people", .unit = "N|auto", .nothing = "auto"}, basket.people);
  visit({.name = "kind_of_fruit", .words = fruit_words}, basket.fruit);
  visit({.name = "share", .range = below_one}, basket.share);
  visit({.name = "weights", .range = above_zero}, basket.weights);
  visit({.name = "washed", .without = "Leave them as they are"}, basket.washed);
}

class UnitSetting : public ::testing::Test {
 protected:
  /// Sets the member of that name.
  void read(std::string_view name, std::string_view text) {
    for (const BoundSetting& one : bound_settings(basket_)) {
      if (one.row.name == name) return one.read(text);
    }
    FAIL() << "no setting " << name;
  }
  Basket basket_;
};

TEST_F(UnitSetting, texts_become_values_of_the_members_own_type) {
  read("piece_count", "9");
  read("people", "3");
  read("kind_of_fruit", "plum");
  read("share", "0.25");
  read("weights", "1,2.5");
  read("washed", "false");
  EXPECT_EQ(basket_.count, 9U);
  EXPECT_EQ(basket_.people, 3U);
  EXPECT_EQ(basket_.fruit, Fruit::plum);
  EXPECT_EQ(basket_.share, 0.25);
  EXPECT_EQ(basket_.weights, (std::vector<double>{1, 2.5}));
  EXPECT_FALSE(basket_.washed);
  read("people", "auto");
  EXPECT_EQ(basket_.people, std::nullopt);
}

TEST_F(UnitSetting, a_refusal_says_what_is_expected_and_leaves_the_value) {
  const auto refused = [&](std::string_view name, std::string_view text, const char* refusal) {
    expect_error([&] { read(name, text); }, {refusal});
  };
  refused("piece_count", "0", "expected a whole number from 1 to 9, found '0'");
  refused("piece_count", "-1", "expected a whole number from 1 to 9, found '-1'");
  refused("people", "x", "expected a whole number from 0 to 4294967295 or auto, found 'x'");
  refused("kind_of_fruit", "paer",
          "expected apple, pear or plum, found 'paer'; did you mean pear?");
  refused("share", "1", "expected a number of at least 0 and below 1, found '1'");
  refused("share", "nan", "expected a number of at least 0 and below 1, found 'nan'");
  refused("weights", "1,,2", "expected a number above 0, found ''");
  refused("washed", "yes", "expected true or false, found 'yes'");
  EXPECT_EQ(basket_.count, 4U);
  EXPECT_TRUE(basket_.weights.empty());
}

TEST_F(UnitSetting, defaults_read_back) {
  basket_.share = 0.1;
  basket_.weights = {0.5, 2};
  for (const BoundSetting& one : bound_settings(basket_)) one.read(one.value);
  EXPECT_EQ(basket_.share, 0.1);
  EXPECT_EQ(basket_.weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(basket_.people, std::nullopt);
}

TEST_F(UnitSetting, values_that_no_text_brought_are_checked_under_the_callers_name) {
  basket_.count = 10;
  expect_error([&] { expect_values(basket_, Spelling::shell); },
               {"--piece-count: expected a whole number from 1 to 9, found 10"});
  expect_error([&] { expect_values(basket_, Spelling::python); }, {"piece_count: expected"});
}

TEST_F(UnitSetting, names_and_words_are_spelled_as_the_caller_writes_them) {
  const Setting row = row_of(basket_, basket_.fruit);
  EXPECT_EQ(spelled(row, {"pear", "plum"}, Spelling::shell), "--kind-of-fruit pear or plum");
  EXPECT_EQ(spelled(row, {"pear", "plum"}, Spelling::python), "kind_of_fruit='pear' or 'plum'");
  EXPECT_EQ(spelled(row, {"pear"}, Spelling::json), R"("kind_of_fruit": "pear")");
  EXPECT_EQ(spelled(row, {"pear"}, Spelling::c), "kind_of_fruit = FEEDRATE_FRUIT_PEAR");
  EXPECT_EQ(spelled(row_of(basket_, basket_.washed), Spelling::shell), "--no-washed");
}

TEST_F(UnitSetting, what_is_expected_is_spelled_as_the_caller_writes_it) {
  const Setting fruit = row_of(basket_, basket_.fruit), people = row_of(basket_, basket_.people);
  const Setting share = row_of(basket_, basket_.share), washed = row_of(basket_, basket_.washed);
  EXPECT_EQ(expected(fruit, Spelling::python), "'apple', 'pear' or 'plum'");
  EXPECT_EQ(expected(fruit, Spelling::c),
            "FEEDRATE_FRUIT_APPLE, FEEDRATE_FRUIT_PEAR or FEEDRATE_FRUIT_PLUM");
  EXPECT_EQ(expected(washed, Spelling::python), "True or False");
  EXPECT_EQ(spelled_nothing(people, Spelling::python), "'auto'");
  EXPECT_EQ(spelled_nothing(people, Spelling::c), "FEEDRATE_PEOPLE_AUTO");
  EXPECT_EQ(spelled_nothing(share, Spelling::python), "None");
  EXPECT_EQ(spelled_nothing(share, Spelling::c), "0");
  EXPECT_EQ(spelled_nothing(share, Spelling::shell), "");
  EXPECT_EQ(spelled_nothing(fruit, Spelling::python), "");
}

}  // namespace
}  // namespace feedrate::formats
