// Settings of a loader: what is refused, in whose words, and what they make of a dataset.

#include "loader/settings.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

TEST(UnitSettings, every_row_has_a_unit_or_is_a_flag_and_says_what_it_does) {
  LoaderSettings settings;
  for (const BoundSetting& one : bound_settings(settings)) {
    EXPECT_FALSE(one.row.sentence.empty()) << one.row.name;
    EXPECT_EQ(one.row.unit.empty(), one.row.kind == SettingKind::flag) << one.row.name;
    EXPECT_FALSE(one.row.sentence.ends_with('.')) << one.row.name;
    EXPECT_TRUE(one.row.detail.empty() || one.row.detail.ends_with('.')) << one.row.name;
  }
}

TEST(UnitSettings, the_defaults_are_accepted_and_are_those_of_the_options) {
  const MemoryDataset dataset(100);
  const LoaderSetup setup = set_up({}, dataset, nullptr, Spelling::python);
  const LoaderOptions usual;
  EXPECT_EQ(setup.options.batch, usual.batch);
  EXPECT_EQ(setup.options.epochs, usual.epochs);
  EXPECT_EQ(setup.options.start, usual.start);
  EXPECT_EQ(setup.options.bad.budget, usual.bad.budget);
  EXPECT_EQ(setup.options.engine.io_threads, usual.engine.io_threads);
  EXPECT_TRUE(setup.options.order.shuffle);
  EXPECT_TRUE(setup.options.engine.tune) << "nobody asked for a number of threads";
  EXPECT_EQ(setup.epoch_size, 100U);
  EXPECT_EQ(setup.batches_per_epoch, 2U);
}

TEST(UnitSettings, what_does_not_fit_together_is_refused_in_the_callers_words) {
  const auto refused = [](const LoaderSettings& settings, Spelling by, const char* message) {
    expect_error([&] { check(settings, by); }, {message});
  };
  refused({.mean = {1}}, Spelling::shell, "--mean needs --pixels f32 or f16");
  refused({.mean = {1}}, Spelling::python, "mean needs pixels='f32' or 'f16'");
  refused({.deviation = {1}}, Spelling::c,
          "deviation needs pixels = FEEDRATE_PIXELS_F32 or FEEDRATE_PIXELS_F16");
  refused({.pixels = PixelType::f32, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229}},
          Spelling::python, "mean and deviation are of pixels from 0 to 255: multiply");
  refused({.pixels = PixelType::f16, .deviation = {0.5}}, Spelling::shell,
          "--deviation is of pixels from 0 to 255");
  check({.pixels = PixelType::f32, .mean = {0}, .deviation = {1}}, Spelling::shell);
  check({.pixels = PixelType::f32, .mean = {0.5}, .deviation = {2}}, Spelling::shell);
  refused({.pixels = PixelType::f32, .mean = {104, 300}}, Spelling::python,
          "mean: expected a number from 0 to 255, found 300");
  refused({.rank = 2, .ranks = 2}, Spelling::shell,
          "--rank: expected a rank below the number of ranks, 2, found 2");
  refused({.decode = DecodedSize::scaled}, Spelling::shell,
          "--decode scaled: recipe none does not make images smaller");
  refused({.batch = 65537}, Spelling::python,
          "batch: expected a whole number from 1 to 65536, found 65537");
  refused({.shuffle = false, .window = 9}, Spelling::shell,
          "--shuffle-window is for shuffling, not for --no-shuffle");
  refused({.shuffle = false, .shuffle_blocks = 9}, Spelling::shell,
          "--shuffle-blocks is for shuffling, not for --no-shuffle");
  refused({.shuffle = false, .window = 9}, Spelling::python,
          "window is for shuffling, not for shuffle=False");
  refused({.start = {max_start_epoch + 1, 0}}, Spelling::c,
          "start: expected an epoch from 0 to 1000000000000, found 1000000000001");
  refused({.recipe = "noen"}, Spelling::python, "recipe: no recipe 'noen'");
  refused({.threads = 257}, Spelling::python,
          "threads: expected a whole number from 0 to 256 or auto, found 257");
}

TEST(UnitSettings, a_start_is_an_epoch_or_an_epoch_and_images) {
  LoaderSettings settings;
  for (const BoundSetting& one : bound_settings(settings)) {
    if (one.row.name != "start") continue;
    one.read("3:40");
    expect_error([&] { one.read("one"); }, {"expected EPOCH or EPOCH:IMAGES, found 'one'"});
    expect_error([&] { one.read("1:2:3"); }, {"expected EPOCH or EPOCH:IMAGES, found '1:2:3'"});
  }
  EXPECT_EQ(settings.start, (StartPlace{3, 40}));
  const MemoryDataset small(30), large(50);
  EXPECT_EQ(set_up(settings, large, nullptr, Spelling::c).options.start, (LoaderState{1, 3, 40}));
  expect_error([&] { set_up(settings, small, nullptr, Spelling::c); },
               {"position 40 is beyond the 30 images of an epoch"});
  const LoaderSetup setup = set_up({}, small, nullptr, Spelling::c);
  expect_error([&] { expect_start(setup, {.position = 31}); }, {"position 31 is beyond"});
}

TEST(UnitSettings, an_epoch_in_an_order_of_its_own_is_shuffled_only_on_request) {
  const MemoryDataset dataset(5);
  const auto picks = listed({4, 2, 0}, 5);
  const LoaderSetup setup = set_up({}, dataset, picks.get(), Spelling::python);
  EXPECT_FALSE(setup.options.order.shuffle);
  EXPECT_EQ(setup.epoch_size, 3U);
  EXPECT_TRUE(
      set_up({.shuffle = true}, dataset, picks.get(), Spelling::python).options.order.shuffle);
}

TEST(UnitSettings, a_number_too_large_to_count_is_told_the_largest) {
  expect_error([] { expect_text(typed(seed_row, std::uint64_t{}), "18446744073709551616"); },
               {"from 0 to 18446744073709551615, found '18446744073709551616'"});
  expect_error([] { expect_text(typed(seed_row, std::uint64_t{}), "-1"); },
               {"expected a whole number of at least 0, found '-1'"});
}

TEST(UnitSettings, a_recipe_that_only_evaluates_keeps_the_order_unless_asked) {
  const MemoryDataset dataset(50);
  const auto shuffled = [&](const LoaderSettings& settings, const Picks* picks = nullptr) {
    return set_up(settings, dataset, picks, Spelling::c).options.order.shuffle;
  };
  EXPECT_TRUE(shuffled({}));
  EXPECT_FALSE(shuffled({.recipe = "imagenet-eval"}));
  EXPECT_TRUE(shuffled({.recipe = "imagenet-eval", .shuffle = true}));
  EXPECT_TRUE(shuffled({.recipe = "imagenet-eval", .window = 9}));
  EXPECT_FALSE(shuffled({.recipe = "imagenet-eval"}, mixed({{50, 1}}, 50, false).get()));
}

TEST(UnitSettings, a_setting_that_does_not_suit_the_dataset_is_named_as_the_caller_does) {
  const MemoryDataset dataset(50);
  const auto refused = [&](const LoaderSettings& settings, const char* message) {
    expect_error([&] { set_up(settings, dataset, nullptr, Spelling::shell); }, {message});
  };
  refused({.last = LastBatch::drop},
          "--last: an epoch of 50 images gives rank 0 of 1 no batch (of 64 images)");
  refused({.start = {0, 61}}, "--from: position 61 is beyond the 50 images");
  refused({.pixels = PixelType::f32, .mean = {1, 2}}, "--mean: ");
  refused({.pixels = PixelType::f32, .deviation = {3, 2}}, "--deviation: ");
  const auto list = listed({1, 2}, 50);
  expect_error([&] { set_up({.window = 5}, dataset, list.get(), Spelling::python); },
               {"window is for the order of one dataset"});
}

}  // namespace
}  // namespace feedrate::loader
