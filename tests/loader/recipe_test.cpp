#include "loader/recipe.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace feedrate {
namespace {

using testing::expect_error;

TEST(UnitRecipe, recipes_are_listed_in_the_order_of_help) {
  const auto names = kind_names(recipes());
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names[0], "none");
  EXPECT_EQ(names[1], "mnist");
}

TEST(UnitRecipe, an_unknown_recipe_is_answered_with_the_nearest_name) {
  expect_error([] { recipe("minst"); }, {"no recipe 'minst'", "did you mean mnist?"});
}

TEST(UnitRecipe, none_takes_any_image_and_asks_for_a_known_size) {
  const Shape colour{32, 32, 3};
  EXPECT_EQ(recipe("none").shape(colour), colour);
  EXPECT_TRUE(recipe("none").in_place());
  expect_error([] { recipe("none").shape({}); }, {"size"});
}

TEST(UnitRecipe, mnist_takes_grey_images_only) {
  const Shape grey{28, 28, 1};
  EXPECT_EQ(recipe("mnist").shape(grey), grey);
  EXPECT_TRUE(recipe("mnist").in_place());
  expect_error([] { recipe("mnist").shape({28, 28, 3}); }, {"grey", "3 channels"});
}

}  // namespace
}  // namespace feedrate
