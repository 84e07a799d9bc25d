// Composed recipes: their draws, the batches that they mix, and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "loader/augment/tones.h"
#include "loader/pixels/half.h"
#include "loader/recipes/part.h"
#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

constexpr Shape small{24, 20, 3};
constexpr const char* everything =
    "random-crop:size=16:pad=2+flip+color-jitter:brightness=0.4:contrast=0.4:saturation=0.4:hue=0.1"
    "+rand-augment+trivial-augment:interpolation=bilinear+apply:parts=3+auto-augment:policy=cifar10"
    "+gaussian-blur:size=5+solarize+random-affine:degrees=-30-30:across=0.1:scale=0.5-2+pad:mode="
    "edge"
    "+random-crop:size=16+sharpness+random-erasing+mixup:alpha=0.4+cutmix";

std::vector<float> values_of(const Batch& batch) {
  const auto in = [](const auto& span) { return std::vector<float>(span.begin(), span.end()); };
  if (batch.type == PixelType::f32) return in(batch.floats);
  if (batch.type == PixelType::u8) return in(batch.pixels);
  std::vector<float> values;
  for (const std::uint16_t half : batch.halves) values.push_back(half_value(half));
  return values;
}

TEST(UnitAugment, batches_are_the_same_at_any_number_of_threads_and_resume_anywhere) {
  const MemoryDataset dataset(130, small);
  for (const PixelType type : pixel_types) {
    LoaderOptions options{.threads = 0, .batch = 32, .epochs = 2, .pixels = {.type = type}};
    const auto whole = digests(dataset, recipe(everything), options);
    EXPECT_EQ(std::set(whole.begin(), whole.end()).size(), 10U);
    for (const unsigned threads : {1U, 3U, 8U}) {
      options.threads = threads;
      EXPECT_EQ(digests(dataset, recipe(everything), options), whole) << threads;
    }
    options.start = {.seed = 1, .epoch = 1, .position = 64};
    options.epochs = 1;
    EXPECT_EQ(digests(dataset, recipe(everything), options),
              std::vector(whole.begin() + 7, whole.end()));
  }
}

TEST(UnitAugment, parts_alone_see_what_recipes_see) {
  const Shape photograph{375, 500, 3};
  const Recipe& parts = recipe("random-resized-crop:size=160");
  const Recipe& named = recipe("imagenet-train:size=160:flip=0");
  const Recipe& resized = recipe("resize:size=256+center-crop:size=224");
  for (std::uint64_t index = 0; index < 200; ++index) {
    const SampleRandom random(4, 2, index);
    EXPECT_EQ(parts.view(photograph, random), named.view(photograph, random));
  }
  EXPECT_EQ(resized.view(photograph, {1, 1, 1}),
            recipe("imagenet-eval").view(photograph, {1, 1, 1}));
  int mirrored = 0;
  std::set<std::pair<int, int>> corners;
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const View view = recipe("random-crop:size=32:pad=4+flip:share=0.25")
                          .view({32, 32, 3}, SampleRandom(1, 1, index));
    check_view(view, {32, 32, 3});
    mirrored += view.mirrored ? 1 : 0;
    corners.emplace(view.y, view.x);
  }
  EXPECT_NEAR(mirrored, 500, 100);
  EXPECT_EQ(corners.size(), 81U);
  EXPECT_EQ(*corners.begin(), (std::pair{-4, -4}));
}

TEST(UnitAugment, a_recipe_keeps_its_crops_when_parts_are_added) {
  const Recipe& plain = recipe("imagenet-train");
  const Recipe& more = recipe("imagenet-train+color-jitter:hue=0.1");
  for (std::uint64_t index = 0; index < 50; ++index) {
    const SampleRandom random(1, 2, index);
    EXPECT_EQ(more.view({375, 500, 3}, random), plain.view({375, 500, 3}, random));
  }
}

TEST(UnitAugment, names_are_one_for_the_same_and_evaluation_leaves_chance_out) {
  EXPECT_EQ(&recipe("flip+color-jitter:hue=0.10"), &recipe("flip+color-jitter:hue=0.1"));
  EXPECT_EQ(recipe("none+flip:share=1/2").name(), "none+flip:share=0.5");
  EXPECT_EQ(recipe("imagenet-train:size=160+mixup").evaluation().name(), "imagenet-eval:size=160");
  EXPECT_EQ(recipe("random-resized-crop:size=160+flip").evaluation().name(),
            "imagenet-eval:size=160");
  EXPECT_EQ(recipe("none+random-resized-crop:size=160+flip+rgb").evaluation().name(),
            recipe("random-resized-crop:size=160+flip+rgb").evaluation().name());
  EXPECT_EQ(&recipe("none+flip").evaluation(), &recipe("none"));
  EXPECT_EQ(recipe("random-crop:size=32:pad=4+flip+cutmix").evaluation().name(),
            "center-crop:size=32");
  EXPECT_EQ(&recipe("flip").evaluation(), &recipe("none"));
}

TEST(UnitAugment, rgb_and_grey_make_images_alike_whatever_the_first_one_is) {
  const Buffer whites(256, std::byte{255});
  Buffer reds;
  for (int i = 0; i < 256; ++i) reds.insert(reds.end(), {std::byte{255}, {}, {}});
  const auto read = [&](std::uint64_t index, Sample& sample) {
    sample.shape = {16, 16, index == 0 ? 1U : 3U};
    sample.bytes = index == 0 ? whites : reds;
  };
  const auto greens_of_both = [&](const Dataset& dataset, std::string_view text) {
    Loader loader(dataset, recipe(text), {.threads = 0, .batch = 2, .order = {.shuffle = false}});
    const Batch& batch = *loader.next();
    const std::size_t at = batch.shape.channels / 2;
    return std::pair<int, int>(batch.pixels[at], batch.pixels[batch.shape.bytes() + at]);
  };
  for (const std::uint32_t channels : {1U, 3U}) {
    const MemoryDataset dataset(2, {16, 16, channels}, read);
    for (const char* parts : {"", "resize:size=12+", "resize:size=12+center-crop:size=8+"}) {
      EXPECT_EQ(greens_of_both(dataset, join(parts, "rgb")), std::pair(255, 0)) << parts;
      EXPECT_EQ(greens_of_both(dataset, join(parts, "grey")), std::pair(255, 76)) << parts;
    }
  }
  expect_error(
      [&] {
        greens_of_both(MemoryDataset(2, {16, 16, 1}, read), "resize:size=12");
      },
      {"its part rgb or grey"});
  EXPECT_EQ(recipe("random-resized-crop+flip+grey+mixup").evaluation().name(),
            "imagenet-eval:size=224+grey");
}

TEST(UnitAugment, jitter_draws_its_order_and_then_its_factors) {
  const auto& operation = *recipe("color-jitter:brightness=0.5:hue=0.2").operations().front();
  int hue_first = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const SampleRandom random(1, 2, index);
    std::vector<std::uint8_t> pixels(small.bytes()), expected;
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(mix64(i) >> 56);
    expected = pixels;
    // The draws restated: three swaps, four factors.
    Draws draws(random, draws_of_a_part);
    std::vector<int> order{0, 1, 2, 3};
    for (std::uint32_t left = 4; left > 1; --left)
      std::swap(order[left - 1], order[draws.below(left)]);
    const double brightness = draws.uniform(0.5, 1.5);
    draws.bits();
    draws.bits();
    const double hue = draws.uniform(-0.2, 0.2);
    for (const int change : order) {
      if (change == 0) adjust_brightness({expected.data(), small}, static_cast<float>(brightness));
      if (change == 3) adjust_hue({expected.data(), small}, hue);
    }
    hue_first += std::ranges::find(order, 3) < std::ranges::find(order, 0) ? 1 : 0;
    Draws again(random, draws_of_a_part);
    operation.apply({pixels.data(), small}, again, {});
    ASSERT_EQ(pixels, expected) << index;
  }
  EXPECT_NEAR(hue_first, 50, 20);
}

// torchvision's arithmetic for one number.
float mixed_value(float own, float other, double share, PixelType type) {
  const auto mine = static_cast<float>(share), rest = static_cast<float>(1 - share);
  if (type == PixelType::f32) return other * rest + own * mine;
  const auto half = [](float value) { return half_value(half_bits(value)); };
  if (type == PixelType::f16) return half(half(other * rest) + half(own * mine));
  return std::floor(other * rest + own * mine + 0.5F);
}

TEST(UnitAugment, mixup_adds_the_image_before) {
  const MemoryDataset dataset(70, small);
  for (const PixelType type : pixel_types) {
    LoaderOptions options{.threads = 2, .batch = 16, .pixels = {.type = type}};
    Loader plain(dataset, recipe("none"), options), mixing(dataset, recipe("none+mixup"), options);
    std::set<double> shares;
    while (const Batch* batch = mixing.next()) {
      const Batch* original = plain.next();
      ASSERT_NE(original, nullptr);
      EXPECT_EQ(original->own_share, 1);
      const auto before = values_of(*original), after = values_of(*batch);
      const std::size_t size = small.bytes();
      for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
        const std::uint32_t partner = batch->partner(seat);
        EXPECT_EQ(partner, (seat + batch->count - 1) % batch->count);
        for (std::size_t i = 0; i < size; i += 7) {
          ASSERT_EQ(after[seat * size + i],
                    mixed_value(before[seat * size + i], before[partner * size + i],
                                batch->own_share, type));
        }
      }
      EXPECT_TRUE(std::ranges::equal(batch->labels, original->labels)) << "labels stay";
      shares.insert(batch->own_share);
    }
    EXPECT_EQ(shares.size(), 5U);
  }
}

TEST(UnitAugment, cutmix_takes_a_rectangle_of_the_image_before) {
  const MemoryDataset dataset(64, small);
  for (const auto& [type, layout] : {std::pair{PixelType::u8, PixelLayout::interleaved},
                                     {PixelType::u8, PixelLayout::planar},
                                     {PixelType::f32, PixelLayout::planar},
                                     {PixelType::f16, PixelLayout::interleaved}}) {
    LoaderOptions options{.threads = 2, .batch = 16, .pixels = {.type = type, .layout = layout}};
    Loader plain(dataset, recipe("none"), options), mixing(dataset, recipe("none+cutmix"), options);
    while (const Batch* batch = mixing.next()) {
      const Batch* original = plain.next();
      const auto before = values_of(*original), after = values_of(*batch);
      const std::size_t size = small.bytes(), area = std::size_t{small.height} * small.width;
      const bool planes = layout == PixelLayout::planar;
      // Places that are not the image's own; their bounds, since some images are alike in places.
      std::size_t top = small.height, left = small.width, bottom = 0, right = 0;
      for (std::uint32_t seat = 0; seat < batch->count; ++seat) {
        for (std::size_t i = 0; i < size; ++i) {
          const float own = before[seat * size + i], now = after[seat * size + i];
          if (now == own) continue;
          ASSERT_EQ(now, before[batch->partner(seat) * size + i]);
          const std::size_t place = planes ? i % area : i / small.channels;
          top = std::min(top, place / small.width);
          left = std::min(left, place % small.width);
          bottom = std::max(bottom, place / small.width + 1);
          right = std::max(right, place % small.width + 1);
        }
      }
      const double foreign = bottom == 0 ? 0 : static_cast<double>((bottom - top) * (right - left));
      EXPECT_EQ(1 - foreign / static_cast<double>(area), batch->own_share);
    }
  }
}

TEST(UnitAugment, of_several_mixers_each_batch_undergoes_one) {
  const MemoryDataset dataset(64, {8, 8, 3});
  int whole_pixels = 0;  // shares that 64 pixels can have: cutmix
  Loader loader(dataset, recipe("none+mixup+cutmix"), {.batch = 8, .epochs = 25});
  while (const Batch* batch = loader.next()) {
    const double pixels = batch->own_share * 64;
    whole_pixels += pixels == std::floor(pixels) ? 1 : 0;
  }
  EXPECT_NEAR(whole_pixels, 100, 35);
}

TEST(UnitAugment, skipped_samples_are_no_partners) {
  const MemoryDataset dataset(32, small, [](std::uint64_t index, Sample&) {
    if (index % 8 == 3) throw Error("the bytes are gone");
  });
  const LoaderOptions base{.threads = 0, .batch = 16, .bad = {.policy = BadPolicy::skip}};
  LoaderOptions threaded = base;
  threaded.threads = 3;
  const auto whole = digests(dataset, recipe("none+mixup"), base);
  EXPECT_EQ(digests(dataset, recipe("none+mixup"), threaded), whole);
  Loader plain(dataset, recipe("none"), base), mixing(dataset, recipe("none+mixup"), base);
  while (const Batch* batch = mixing.next()) {
    const auto before = values_of(*plain.next()), after = values_of(*batch);
    EXPECT_LT(batch->count, 16U);
    const std::size_t last = (batch->count - 1) * small.bytes();
    EXPECT_EQ(after[10],
              mixed_value(before[10], before[last + 10], batch->own_share, PixelType::u8));
  }
}

TEST(UnitAugment, shares_are_from_the_beta_distribution) {
  for (const double alpha : {0.1, 0.4, 1.0, 2.0, 8.0}) {
    double sum = 0, squares = 0;
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) {
      Draws draws(SampleRandom(1, 1, static_cast<std::uint64_t>(i)), draws_of_a_batch);
      const double share = draws.beta(alpha);
      ASSERT_GE(share, 0);
      ASSERT_LE(share, 1);
      sum += share;
      squares += share * share;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(variance / count)) << alpha;
    EXPECT_NEAR(squares / count - 0.25, variance, 0.05 * variance + 1e-3) << alpha;
  }
}

TEST(UnitAugment, halves_come_back) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7c00U) == 0x7c00U && (half & 0x3ffU) != 0) continue;  // NaN
    ASSERT_EQ(half_bits(half_value(half)), half);
  }
}

// A recipe of several passes is each pass on what the one before it made.
TEST(UnitAugment, passes_follow_each_other) {
  const MemoryDataset dataset(6, {37, 41, 3});
  const auto pixels = [&](const char* text, PixelType type = PixelType::u8) {
    Loader loader(dataset, recipe(text),
                  {.threads = 2, .batch = 6, .epochs = 1, .pixels = {.type = type}});
    const Batch& batch = *loader.next();
    EXPECT_EQ(batch.count, 6U);
    const auto bytes = batch.bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(pixels("vertical-flip:share=1+flip:share=1"), pixels("rotate:degrees=180"));
  EXPECT_EQ(pixels("vertical-flip:share=1+vertical-flip:share=1+center-crop:size=20"),
            pixels("center-crop:size=20"));
  EXPECT_EQ(pixels("center-crop:size=31+rotate:degrees=0+resize:size=20+center-crop:size=10"),
            pixels("center-crop:size=31+resize:size=20+center-crop:size=10"));
  EXPECT_EQ(pixels("rotate:degrees=90+grey", PixelType::f32),
            pixels("rotate:degrees=90+grey+flip:share=0", PixelType::f32));
  // The middle of what is mirrored lies a pixel further where the excess is odd.
  EXPECT_EQ(pixels("flip:share=1+center-crop:size=20"),
            pixels("flip:share=1+rotate:degrees=0+center-crop:size=20"));
  EXPECT_NE(pixels("flip:share=1+center-crop:size=20"), pixels("center-crop:size=20+flip:share=1"));
  const Recipe& chain =
      recipe("rotate+random-resized-crop:size=16+vertical-flip+center-crop:size=8");
  EXPECT_EQ(chain.evaluation().name(), "imagenet-eval:size=16+center-crop:size=8");
  EXPECT_EQ(recipe("imagenet-train+rotate+center-crop:size=8+mixup").evaluation().name(),
            "imagenet-eval+center-crop:size=8");
  EXPECT_EQ(chain.shape({}), (Shape{8, 8, 3}));
  expect_error([&] { recipe("rotate+center-crop:size=38").shape({37, 41, 3}); }, {"does not fit"});
}

TEST(HostileAugment, compositions_that_make_no_sense_are_refused) {
  const auto refused = [](const char* text, std::initializer_list<std::string_view> words) {
    expect_error([&] { recipe(text); }, words);
  };
  refused("flipp", {"no recipe 'flipp'", "did you mean flip?"});
  refused("imagenet-train+colour-jitter", {"no part of recipes 'colour-jitter'", "color-jitter?"});
  refused("imagenet-train+", {"no part of recipes ''"});
  refused("imagenet-train+imagenet-eval", {"no part of recipes 'imagenet-eval'"});
  refused("color-jitter:hue=0.6", {"color-jitter, hue", "from 0 to 0.5", "'0.6'"});
  refused("color-jitter:hues=0.1", {"no parameter of color-jitter 'hues'", "did you mean hue?"});
  refused("mixup+random-erasing", {"random-erasing cannot stand behind mixup", "whole batches"});
  refused("rand-augment:magnitude=31", {"less than the 31 bins, found 31"});
  refused("rand-augment:bins=1", {"bins: expected a whole number from 2"});
  refused("mixup:alpha=0", {"alpha: expected a number from 0.01"});
  refused("random-erasing:value=256", {"value", "'256'"});
  refused("random-erasing:blue=256", {"blue", "'256'"});
  const MemoryDataset dataset(4, small);
  const auto unsuited = [&](const char* text, std::initializer_list<std::string_view> words) {
    expect_error([&] { Loader(dataset, recipe(text), {}); }, words);
  };
  unsuited("center-crop:size=32", {"center-crop: a crop of 32 does not fit into 24 x 20"});
  unsuited("random-crop:size=32:pad=4", {"a crop of 32 does not fit"});
  for (const char* part : {"center-crop:size=16+random-crop:size=16:pad=2",
                           "resize:size=12+random-crop:size=12:pad=2"})
    unsuited(part, {"random-crop: only whole images can be padded"});
}

}  // namespace
}  // namespace feedrate::loader
