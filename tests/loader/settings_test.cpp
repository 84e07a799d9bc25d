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
  refused({.mean = {1}}, Spelling::shell, "--mean and --deviation need --pixels f32 or f16");
  refused({.mean = {1}}, Spelling::python, "mean and deviation need pixels='f32' or 'f16'");
  refused({.deviation = {1}}, Spelling::c,
          "mean and deviation need pixels = FEEDRATE_PIXELS_F32 or FEEDRATE_PIXELS_F16");
  refused({.pixels = PixelType::f32, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229}},
          Spelling::python, "mean and deviation are of pixels from 0 to 255: multiply");
  refused({.pixels = PixelType::f16, .deviation = {0.5}}, Spelling::shell,
          "--mean and --deviation are of pixels from 0 to 255");
  check({.pixels = PixelType::f32, .mean = {0}, .deviation = {1}}, Spelling::shell);
  check({.pixels = PixelType::f32, .mean = {0.5}, .deviation = {2}}, Spelling::shell);
  refused({.rank = 2, .ranks = 2}, Spelling::shell,
          "--rank: expected a rank below the number of ranks, 2, found 2");
  refused({.decode = DecodedSize::scaled}, Spelling::shell,
          "--decode scaled: recipe none does not make images smaller");
  refused({.batch = 65537}, Spelling::python,
          "batch: expected a whole number from 1 to 65536, found 65537");
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

}  // namespace
}  // namespace feedrate::loader
