#include "loader/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loader/loader.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using testing::expect_error;
using testing::MemoryDataset;

TEST(UnitRecipe, recipes_are_listed_in_the_order_of_help) {
  const auto names = kind_names(recipes());
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names[0], "none");
  EXPECT_EQ(names[1], "mnist");
  const std::vector<std::string_view> others(names.begin() + 2, names.end());
  EXPECT_EQ(others, (std::vector<std::string_view>{"cifar-train", "cifar-eval", "imagenet-train",
                                                   "imagenet-eval", "caffe", "caffe-eval"}));
}

TEST(UnitRecipe, an_unknown_recipe_is_answered_with_the_nearest_name) {
  expect_error([] { recipe("minst"); }, {"no recipe 'minst'", "did you mean mnist?"});
}

TEST(UnitRecipe, none_takes_any_image_of_known_size) {
  const Shape colour{32, 32, 3};
  EXPECT_EQ(recipe("none").shape(colour), colour);
  EXPECT_EQ(recipe("none").view(colour, SampleRandom(1, 2, 3)), whole_view(colour));
  expect_error([] { recipe("none").shape({}); }, {"size"});
}

TEST(UnitRecipe, mnist_takes_grey_images_only) {
  const Shape grey{28, 28, 1};
  EXPECT_EQ(recipe("mnist").shape(grey), grey);
  EXPECT_EQ(recipe("mnist").view(grey, SampleRandom(1, 2, 3)), whole_view(grey));
  expect_error([] { recipe("mnist").shape({28, 28, 3}); }, {"grey", "3 channels"});
}

TEST(UnitRecipe, every_view_is_a_pure_function_and_fits_any_image) {
  for (const Recipe* row : recipes()) {
    for (const Shape stored :
         {Shape{32, 32, 3}, {375, 500, 3}, {28, 28, 1}, {60, 900, 1}, {65535, 1, 1}}) {
      if (row->name() == "mnist" && stored.channels == 3) continue;
      const Shape given = row->shape(stored);
      for (std::uint64_t index = 0; index < 200; ++index) {
        const View view = row->view(stored, SampleRandom(1, 2, index));
        check_view(view, stored);
        EXPECT_EQ(view.window.height, given.height) << row->name();
        EXPECT_EQ(view.window.width, given.width) << row->name();
        EXPECT_EQ(view, row->view(stored, SampleRandom(1, 2, index))) << row->name();
      }
    }
  }
}

TEST(UnitRecipe, the_centre_of_a_long_image_is_seen_however_large_the_whole_would_become) {
  Buffer rows(5000, std::byte{0});
  std::fill(rows.begin() + 2500, rows.end(), std::byte{200});
  const MemoryDataset dataset(1, {5000, 1, 1},
                              [&](std::uint64_t, Sample& sample) { sample.bytes = rows; });
  for (const char* name : {"imagenet-eval", "resize+center-crop", "resize+center-crop+rgb"}) {
    Loader loader(dataset, recipe(name), {.threads = 0, .batch = 1});
    const Batch& batch = *loader.next();
    const std::size_t row_bytes = std::size_t{224} * batch.shape.channels;
    ASSERT_EQ(batch.pixels.size(), 224 * row_bytes);
    for (std::size_t y = 0; y < 224; ++y) {
      // Rows 2499 and 2500, of which each becomes 256; the crop begins at row 639,888.
      const double expected = 200 * ((639888 + static_cast<double>(y) + 0.5) / 256 - 2499.5);
      EXPECT_NEAR(batch.pixels[y * row_bytes], expected, 0.51) << name << ", " << y;
      EXPECT_EQ(batch.pixels[(y + 1) * row_bytes - 1], batch.pixels[y * row_bytes]);
    }
  }
  expect_error([&] { recipe("resize").shape({5000, 1, 1}); }, {"1280000 x 256", "more than"});
  expect_error([&] { recipe("resize").shape({}); }, {"does not state the size"});
}

TEST(UnitRecipe, cifar_train_shifts_by_up_to_four_pixels_and_mirrors_half) {
  std::set<std::pair<int, int>> shifts;
  int mirrored = 0;
  for (std::uint64_t index = 0; index < 5000; ++index) {
    const View view = recipe("cifar-train").view({32, 32, 3}, SampleRandom(1, 1, index));
    shifts.emplace(view.y, view.x);
    mirrored += view.mirrored ? 1 : 0;
    EXPECT_LE(std::abs(view.y), 4);
    EXPECT_LE(std::abs(view.x), 4);
  }
  EXPECT_EQ(shifts.size(), 81U);
  EXPECT_NEAR(mirrored, 2500, 150);
}

TEST(UnitRecipe, caffe_takes_any_of_the_900_windows_of_a_square_of_256) {
  std::set<std::pair<unsigned, unsigned>> places;
  for (std::uint64_t index = 0; index < 20'000; ++index) {
    const View view = recipe("caffe").view({375, 500, 3}, SampleRandom(1, 1, index));
    EXPECT_EQ(view.scaled_height, 256U);
    EXPECT_EQ(view.scaled_width, 256U);
    places.emplace(view.window.y, view.window.x);
  }
  EXPECT_EQ(places.size(), 900U);
  EXPECT_EQ(recipe("caffe-eval").view({256, 256, 3}, SampleRandom(1, 1, 1)).window,
            (Rect{14, 14, 227, 227}));
}

TEST(UnitRecipe, each_recipe_names_its_recipe_for_evaluation) {
  const auto evaluation = [](std::string_view name) { return recipe(name).evaluation().name(); };
  EXPECT_EQ(evaluation("none"), "none");
  EXPECT_EQ(evaluation("cifar-train"), "cifar-eval");
  EXPECT_EQ(evaluation("imagenet-train"), "imagenet-eval");
  EXPECT_EQ(evaluation("imagenet-eval"), "imagenet-eval");
  EXPECT_EQ(evaluation("caffe"), "caffe-eval");
}

}  // namespace
}  // namespace feedrate::loader
