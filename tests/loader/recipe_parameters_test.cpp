// Recipes with parameters: what they do to views, how they are named, and what is refused.

#include "loader/recipe_parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "loader/recipes/part.h"
#include "loader/recipes/random_resized_crop.h"
#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

constexpr Shape photograph{375, 500, 3};

template <class See>
void each_view(std::string_view text, Shape stored, See see) {
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const View view = recipe(text).view(stored, SampleRandom(1, 2, index));
    check_view(view, stored);
    see(view);
  }
}

int mirrored(std::string_view text, Shape stored) {
  int count = 0;
  each_view(text, stored, [&](const View& view) { count += view.mirrored ? 1 : 0; });
  return count;
}

TEST(UnitParameters, usual_values_change_nothing) {
  EXPECT_EQ(&recipe("imagenet-train:"), &recipe("imagenet-train"));
  const Recipe& same = recipe("imagenet-train:size=224:scale=0.08-1:ratio=3/4-4/3:flip=0.5");
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const SampleRandom random(3, 1, index);
    EXPECT_EQ(same.view(photograph, random), recipe("imagenet-train").view(photograph, random));
  }
}

TEST(UnitParameters, every_default_is_a_value_that_may_be_given) {
  const auto check = [](const Kind& kind, std::span<const Parameter> parameters) {
    for (const auto& [name, type, low, high, by_default, words] : parameters) {
      SCOPED_TRACE(join(kind.name(), ", ", name));
      EXPECT_EQ(type == Parameter::Type::word, !words.empty());
      EXPECT_LE(low, by_default.from);
      EXPECT_LE(by_default.from, by_default.to);
      EXPECT_LE(by_default.to, high);
      EXPECT_TRUE(type == Parameter::Type::range || by_default.from == by_default.to);
      EXPECT_TRUE(type != Parameter::Type::whole || by_default.from == std::floor(by_default.from));
    }
  };
  std::size_t adjustable = 0;
  for (const Recipe* row : recipes()) {
    check(*row, row->parameters());
    if (row->parameters().empty()) continue;
    ++adjustable;
    EXPECT_NE(row->with("other", ParameterValues(row->parameters())), nullptr) << row->name();
  }
  EXPECT_EQ(adjustable, 5U);
  for (const PartKind* part : recipe_parts()) check(*part, part->parameters());
}

TEST(UnitParameters, the_same_values_have_one_name_and_one_object) {
  const Recipe& one = recipe("imagenet-train:flip=0:size=160:scale=1/4-1");
  EXPECT_EQ(one.name(), "imagenet-train:size=160:scale=0.25-1:flip=0");
  EXPECT_EQ(&recipe("imagenet-train:size=160:scale=0.25-1.0:flip=0.0"), &one);
  EXPECT_EQ(&recipe(one.name()), &one);
  const Recipe& tiny = recipe("imagenet-train:scale=0.0001-1");
  EXPECT_EQ(&recipe(tiny.name()), &tiny) << tiny.name();
}

TEST(UnitParameters, sizes_may_be_a_height_and_a_width) {
  for (const auto& [text, evaluation] : {
           std::pair{"resize:height=30:width=50", "resize:height=30:width=50"},
           {"resize:size=60+center-crop:height=30:width=50",
            "resize:size=60+center-crop:height=30:width=50"},
           {"resize:size=60+random-crop:height=30:width=50",
            "resize:size=60+center-crop:height=30:width=50"},
           {"random-resized-crop:height=30:width=50", "resize:height=30:width=50+rgb"},
       }) {
    EXPECT_EQ(recipe(text).shape(photograph), (Shape{30, 50, 3})) << text;
    EXPECT_EQ(recipe(text).evaluation().name(), evaluation);
    each_view(text, photograph, [&](const View& view) {
      EXPECT_EQ(view.window.height, 30U) << text;
      EXPECT_EQ(view.window.width, 50U) << text;
    });
  }
  EXPECT_EQ(recipe("resize:height=30:width=50").view(photograph, SampleRandom(1, 2, 3)),
            resized_view({0, 0, 375, 500}, 30, 50));
  EXPECT_EQ(recipe("random-crop:height=30:width=30").evaluation().name(), "center-crop:size=30");
  for (const char* text :
       {"resize:height=30", "center-crop:width=5", "resize:size=30:height=30:width=50"})
    expect_error([&] { recipe(text); }, {"expected size, or both height and width"});
  expect_error(
      [] {
        recipe("random-crop:height=30:width=50").shape({40, 40, 3});
      },
      {"a crop of 30 x 50 does not fit into 40 x 40"});
}

TEST(UnitParameters, sizes_are_those_of_the_images) {
  EXPECT_EQ(recipe("imagenet-train:size=160").shape(photograph), (Shape{160, 160, 3}));
  EXPECT_EQ(recipe("caffe:size=200:resize=210").shape(photograph), (Shape{200, 200, 3}));
  EXPECT_EQ(recipe("caffe:size=64:resize=64").view(photograph, SampleRandom(1, 1, 1)).window,
            (Rect{0, 0, 64, 64}));
  const View view = recipe("imagenet-eval:size=288:resize=320").view(photograph, {1, 1, 1});
  EXPECT_EQ((std::pair{view.scaled_height, view.scaled_width}), (std::pair{320U, 426U}));
  EXPECT_EQ(view.window, (Rect{16, 69, 288, 288}));
  const MemoryDataset dataset(20, photograph);
  const auto reference = digests(dataset, recipe("imagenet-train:size=96"), {.threads = 0});
  EXPECT_EQ(digests(dataset, recipe("imagenet-train:size=96"), {.threads = 3}), reference);
}

TEST(UnitParameters, evaluation_follows_the_size) {
  EXPECT_EQ(recipe("imagenet-train:flip=0").evaluation().name(), "imagenet-eval");
  const Recipe& smaller = recipe("imagenet-train:size=160").evaluation();
  EXPECT_EQ(smaller.name(), "imagenet-eval:size=160");
  EXPECT_EQ(smaller.view(photograph, SampleRandom(1, 1, 1)).scaled_height, 183U) << "160 × 8/7";
  EXPECT_EQ(recipe("caffe:size=200").evaluation().name(), "caffe-eval:size=200:resize=256");
}

TEST(UnitParameters, interpolation_is_the_one_that_was_asked_for) {
  using enum Interpolation;
  const auto cubic = [](const std::string& text) {
    int count = 0;
    each_view(text, photograph, [&](const View& view) { count += view.interpolation == bicubic; });
    return count;
  };
  for (const std::string name : {"imagenet-train", "imagenet-eval", "random-resized-crop", "resize",
                                 "resize:height=30:width=50"}) {
    EXPECT_EQ(cubic(name), 0) << name;
    EXPECT_EQ(cubic(name + ":interpolation=bilinear"), 0) << name;
    EXPECT_EQ(cubic(name + ":interpolation=bicubic"), 2000) << name;
  }
  for (const std::string name : {"imagenet-train", "random-resized-crop"})
    EXPECT_NEAR(cubic(name + ":interpolation=random"), 1000, 120) << name;
  expect_error([] { recipe("imagenet-eval:interpolation=random"); },
               {"interpolation: expected bilinear or bicubic, found 'random'"});
  for (const auto& [text, evaluation] : std::map<std::string, std::string>{
           {"imagenet-train:interpolation=bicubic", "imagenet-eval:interpolation=bicubic"},
           {"imagenet-train:size=160:interpolation=bicubic",
            "imagenet-eval:size=160:interpolation=bicubic"},
           {"random-resized-crop:size=160:interpolation=bicubic",
            "imagenet-eval:size=160:interpolation=bicubic"},
           {"random-resized-crop:height=30:width=50:interpolation=bicubic",
            "resize:height=30:width=50:interpolation=bicubic+rgb"},
           {"resize:size=36:interpolation=bicubic+flip", "resize:size=36:interpolation=bicubic"},
           {"imagenet-train:interpolation=random", "imagenet-eval"}}) {
    EXPECT_EQ(recipe(text).evaluation().name(), evaluation) << text;
  }
}

TEST(UnitParameters, flips_have_the_share_that_was_asked_for) {
  for (const std::string name : {"imagenet-train", "cifar-train", "caffe"}) {
    EXPECT_EQ(mirrored(name + ":flip=0", photograph), 0) << name;
    EXPECT_EQ(mirrored(name + ":flip=1", photograph), 2000) << name;
    EXPECT_NEAR(mirrored(name + ":flip=0.2", photograph), 400, 100) << name;
    EXPECT_NEAR(mirrored(name, photograph), 1000, 120) << name;
  }
}

TEST(UnitParameters, crops_keep_to_the_limits) {
  double smallest = 1, largest = 0, narrowest = 100, widest = 0, logs = 0;
  each_view("imagenet-train:scale=0.2-0.3:ratio=1/3-4", {2000, 2000, 3}, [&](const View& view) {
    const double share = view.height * double{1} * view.width / 4e6;
    const double ratio = double{1} * view.width / view.height;
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
    narrowest = std::min(narrowest, ratio);
    widest = std::max(widest, ratio);
    logs += std::log(ratio);
  });
  EXPECT_NEAR(smallest, 0.2, 0.002);
  EXPECT_NEAR(largest, 0.3, 0.002);
  EXPECT_NEAR(narrowest, 1.0 / 3, 0.01);
  EXPECT_NEAR(widest, 4, 0.05);
  // Uniform in the logarithm: its mean is that of the ends, but crops that do not fit are redrawn.
  EXPECT_NEAR(logs / 2000, (std::log(4) - std::log(3)) / 2, 0.1);
}

TEST(UnitParameters, logarithms_of_ratios_are_exact) {
  for (const double ratio : {0.01, 0.3, 0.5, 0.999, 1.0, 1.5, 7.0, 100.0}) {
    const CropLimits limits = crop_limits({0.1, 1}, {ratio, ratio});
    EXPECT_NEAR(limits.log_min_ratio, std::log(ratio), 2e-15) << ratio;
    EXPECT_EQ(limits.log_min_ratio, limits.log_max_ratio) << ratio;
  }
  EXPECT_EQ(crop_limits({0.1, 1}, {3.0 / 4, 4.0 / 3}).log_max_ratio, CropLimits().log_max_ratio);
}

TEST(UnitParameters, a_pad_moves_the_image_that_far) {
  std::int32_t least = 99, most = -99;
  each_view("cifar-train:pad=9", {32, 32, 3}, [&](const View& view) {
    least = std::min(least, view.y);
    most = std::max(most, view.x);
  });
  EXPECT_EQ((std::pair{least, most}), (std::pair{-9, 9}));
  each_view("cifar-train:pad=0:flip=0", {32, 32, 3}, [](const View& view) {
    EXPECT_TRUE(shows_all(view, {32, 32, 3}));
  });
}

TEST(HostileParameters, what_is_no_parameter_or_no_value_is_refused) {
  const auto refused = [](const char* text, std::initializer_list<std::string_view> words) {
    expect_error([&] { recipe(text); }, words);
  };
  refused("imagenet-train:siez=160",
          {"no parameter of imagenet-train 'siez'", "did you mean size?"});
  refused("imagenet-trian:size=160",
          {"no recipe 'imagenet-trian'", "did you mean imagenet-train?"});
  refused("mnist:size=28", {"recipe mnist has no parameters", "size=28"});
  for (const char* value :
       {"", "0", "-1", "4097", "160.5", "x", "160x", "1e2", "nan", "1/0", "9-10"}) {
    refused(join("imagenet-train:size=", value).c_str(),
            {"recipe imagenet-train, size", "a whole number from 1 to 4096", value});
  }
  for (const char* value : {"0-1", "0.5-0.2", "0.5-1.1", "0.1-", "-0.5", "0.1-0.2-0.3", "inf-1"}) {
    refused(join("imagenet-train:scale=", value).c_str(), {"scale: expected FROM-TO", value});
  }
  refused("imagenet-train:flip=1.5", {"flip: expected a number from 0 to 1, found '1.5'"});
  refused("imagenet-train:size", {"size", "found ''"});
  refused("imagenet-train:flip=0:flip=0", {"flip is given twice"});
  refused("imagenet-eval:size=300:resize=256", {"a crop of 300 does not fit"});
  refused("imagenet-eval:size=300:resize=256", {"a crop of 300 does not fit"});  // again, alike
  refused("caffe:size=300", {"a crop of 300 does not fit into 256 x 256"});
}

}  // namespace
}  // namespace feedrate::loader
