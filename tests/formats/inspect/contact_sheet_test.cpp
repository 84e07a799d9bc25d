#include "formats/inspect/contact_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "formats/base/error.h"
#include "formats/inspect/canvas.h"
#include "formats/inspect/font.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::Example;
using testing::make_examples;
using testing::MemoryDataset;
using testing::TempDirectory;
using testing::write_dataset;

// What a survey of `count` samples with labels 0, 1, … classes - 1, 0, … would be.
Survey survey_of(std::uint64_t count, std::int32_t classes) {
  Survey survey;
  for (std::uint64_t i = 0; i < count; ++i) {
    survey.samples.push_back({.index = i, .label = static_cast<std::int32_t>(i) % classes});
  }
  return survey;
}

Image sheet_of(const std::vector<Example>& examples) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
  const auto dataset = open_dataset(temporary / "set");
  return contact_sheet(*dataset, survey(*dataset));
}

std::array<int, 3> pixel(const Image& image, std::size_t y, std::size_t x) {
  std::array<int, 3> colour;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t channel = image.shape.channels == 1 ? 0 : c;
    colour[c] = std::to_integer<int>(
        image.pixels[(y * image.shape.width + x) * image.shape.channels + channel]);
  }
  return colour;
}

// Whether `image`, each pixel a square of `factor`, lies in the sheet with its corner there.
bool lies_at(const Image& sheet, const Image& image, std::size_t factor, std::size_t top,
             std::size_t left) {
  for (std::size_t y = 0; y < image.shape.height * factor; ++y) {
    for (std::size_t x = 0; x < image.shape.width * factor; ++x) {
      if (pixel(sheet, top + y, left + x) != pixel(image, y / factor, x / factor)) return false;
    }
  }
  return true;
}

// How often it lies anywhere.
int times_drawn(const Image& sheet, const Image& image, std::size_t factor) {
  int times = 0;
  for (std::size_t y = 0; y + image.shape.height * factor <= sheet.shape.height; ++y) {
    for (std::size_t x = 0; x + image.shape.width * factor <= sheet.shape.width; ++x) {
      times += lies_at(sheet, image, factor, y, x) ? 1 : 0;
    }
  }
  return times;
}

TEST(UnitContactSheet, few_classes_have_whole_rows_spread_over_all) {
  const auto classes = sheet_classes(survey_of(1000, 4));
  ASSERT_EQ(classes.size(), 4U);
  for (const SheetClass& each : classes) {
    EXPECT_EQ(each.samples.size(), 20U) << "a hundred in whole rows of ten";
    EXPECT_EQ(each.samples.front(), static_cast<std::uint64_t>(each.label));
    EXPECT_GT(each.samples.back(), 900U);
    EXPECT_TRUE(std::ranges::is_sorted(each.samples));
  }
  EXPECT_EQ(sheet_classes(survey_of(1000, 10))[3].samples.size(), 10U);
  EXPECT_EQ(sheet_classes(survey_of(1000, 12))[3].samples.size(), 10U);
}

TEST(UnitContactSheet, of_many_classes_there_is_one_sample_each_and_a_hundred_in_all) {
  const auto hundred = sheet_classes(survey_of(5000, 100));
  ASSERT_EQ(hundred.size(), 100U);
  EXPECT_EQ(hundred[99].samples.size(), 1U);
  const auto thousand = sheet_classes(survey_of(5000, 1000));
  ASSERT_EQ(thousand.size(), 100U);
  std::set<std::int32_t> labels;
  for (const SheetClass& each : thousand) labels.insert(each.label);
  EXPECT_EQ(labels.size(), 100U);
  EXPECT_EQ(*labels.begin(), 0);
  EXPECT_GE(*labels.rbegin(), 900) << "they are spread over the labels";
}

TEST(UnitContactSheet, a_class_with_few_samples_shows_each_once) {
  Survey survey = survey_of(100, 2);
  survey.samples.push_back({.index = 200, .label = 5});
  survey.samples.push_back({.index = 300, .label = 5});
  EXPECT_EQ(sheet_classes(survey).back(), (SheetClass{5, {200, 300}}));
  EXPECT_TRUE(sheet_classes({}).empty());
}

TEST(UnitContactSheet, small_images_are_enlarged_by_whole_factors_each_pixel_a_square) {
  const auto examples = make_examples({32, 32, 3}, 2);
  const Image sheet = sheet_of(examples);
  for (const Example& example : examples) EXPECT_EQ(times_drawn(sheet, example.image, 3), 1);
  EXPECT_EQ(times_drawn(sheet, testing::make_image({32, 32, 3}, 99), 3), 0);
}

TEST(UnitContactSheet, each_class_begins_a_row_with_its_own_label) {
  std::vector<Example> examples = make_examples({32, 32, 1}, 6);
  for (std::size_t i = 0; i < examples.size(); ++i) examples[i].label = i < 4 ? 3 : 8;
  const Image sheet = sheet_of(examples);
  std::vector<std::pair<std::size_t, std::size_t>> corners;
  for (const Example& example : examples) {
    for (std::size_t y = 0; y + 96 <= sheet.shape.height; ++y) {
      for (std::size_t x = 0; x + 96 <= sheet.shape.width; ++x) {
        if (lies_at(sheet, example.image, 3, y, x)) corners.emplace_back(y, x);
      }
    }
  }
  ASSERT_EQ(corners.size(), 6U);
  EXPECT_EQ(corners[0].first, corners[3].first);
  EXPECT_GE(corners[4].first, corners[0].first + 96);
  EXPECT_EQ(corners[4].second, corners[0].second);
  EXPECT_EQ(corners[1].second, corners[0].second + 100);
}

TEST(UnitContactSheet, large_images_are_shrunk_and_odd_ones_fit) {
  const Image large = sheet_of(make_examples({300, 600, 3}, 2));
  EXPECT_LT(large.shape.height, 300U);
  EXPECT_GT(large.shape.height, 2 * 64U);
  EXPECT_GT(sheet_of(make_examples({1, 4000, 1}, 1)).shape.height, 20U);
  EXPECT_LT(sheet_of(make_examples({1, 1, 1}, 1)).shape.height, 200U);
}

TEST(UnitContactSheet, labels_and_titles_are_drawn_and_differ) {
  std::vector<Example> examples = make_examples({16, 16, 1}, 1);
  std::set<std::string> pictures;
  for (int label = 0; label < 11; ++label) {
    examples[0].label = label;
    pictures.insert(hex(sha256(sheet_of(examples).pixels)));
  }
  EXPECT_EQ(pictures.size(), 11U);
}

// The sheet of 40 samples whose classes have these names; more than 12 of them are named below.
Image sheet_with(std::vector<std::string> names) {
  const auto classes = static_cast<std::uint32_t>(names.size());
  MemoryDataset dataset(40, {8, 8, 1}, [&](std::uint64_t index, Sample& sample) {
    sample.label = static_cast<std::int32_t>(index % classes);
  });
  dataset.set_classes(classes, std::move(names));
  return contact_sheet(dataset, survey(dataset));
}

TEST(UnitContactSheet, names_in_any_script_are_drawn_in_front_of_rows_and_below_images) {
  for (const std::size_t classes : {1U, 20U}) {
    std::set<std::string> pictures;
    for (const char* name : {"", "Größe", "Grüße", "жук", "жар", "猫"}) {
      const Image sheet = sheet_with(std::vector<std::string>(classes, name));
      pictures.insert(hex(sha256(sheet.pixels)));
    }
    EXPECT_EQ(pictures.size(), 6U) << classes;
  }
}

TEST(UnitContactSheet, a_name_too_long_is_cut_where_its_room_ends) {
  for (const std::size_t classes : {1U, 20U}) {
    const auto sheet = [&](const std::string& name) {
      return sheet_with(std::vector<std::string>(classes, name));
    };
    const std::string name(200, 'n');
    EXPECT_EQ(sheet(name).pixels, sheet(name + "beyond").pixels) << classes;
    EXPECT_NE(sheet(name).pixels, sheet("m" + name).pixels) << classes;
    EXPECT_LT(sheet(name).shape.width, 1500U);
  }
}

TEST(HostileContactSheet, what_cannot_be_decoded_is_crossed_out_and_the_rest_is_drawn) {
  const MemoryDataset dataset(20, {32, 32, 1}, [](std::uint64_t index, Sample& sample) {
    sample.label = static_cast<std::int32_t>(index % 2);
    if (index == 4) sample.bytes = sample.bytes.first(7);
    if (index == 7) throw Error("gone since it was looked at");
  });
  const Image sheet = contact_sheet(dataset, survey_of(20, 2));
  const auto drawn = [&](std::uint64_t index) {
    Image image{{32, 32, 1}, {}};
    image.pixels.assign(
        dataset.pixels().begin() + static_cast<std::ptrdiff_t>(index * 1024),
        dataset.pixels().begin() + static_cast<std::ptrdiff_t>(index * 1024 + 1024));
    return times_drawn(sheet, image, 3);
  };
  EXPECT_EQ(drawn(0), 1);
  EXPECT_EQ(drawn(4), 0);
  EXPECT_EQ(drawn(7), 0);
  EXPECT_EQ(drawn(8), 1);
}

TEST(HostileContactSheet, labels_below_zero_and_of_ten_digits_have_their_place) {
  const Font font("-0123456789");
  for (const std::int32_t label :
       {std::numeric_limits<std::int32_t>::min(), -1, std::numeric_limits<std::int32_t>::max()}) {
    const MemoryDataset dataset(30, {2, 2, 1},
                                [&](std::uint64_t, Sample& sample) { sample.label = label; });
    const Image sheet = contact_sheet(dataset, survey(dataset));
    EXPECT_GT(sheet.shape.width, font.measure(std::to_string(label)).width + 10 * 96);
  }
}

TEST(HostileContactSheet, nothing_to_draw_is_an_error_and_no_empty_picture) {
  const MemoryDataset dataset(3, {4, 4, 1}, [](std::uint64_t, Sample&) { throw Error("gone"); });
  testing::expect_error([&] { contact_sheet(dataset, survey(dataset)); },
                        {"memory", "no sample can be read"});
}

TEST(UnitCanvas, coverage_says_how_much_of_a_pixel_is_hidden) {
  Canvas canvas(1, 3, {10, 20, 30});
  canvas.blend(0, 0, {110, 220, 30}, 0);
  canvas.blend(0, 1, {110, 220, 30}, 51);
  canvas.blend(0, 2, {110, 220, 30}, 255);
  const Image image = canvas.take();
  EXPECT_EQ(pixel(image, 0, 0), (std::array{10, 20, 30}));
  EXPECT_EQ(pixel(image, 0, 1), (std::array{30, 60, 30}));
  EXPECT_EQ(pixel(image, 0, 2), (std::array{110, 220, 30}));
}

TEST(HostileCanvas, nothing_is_drawn_beyond_it) {
  Canvas canvas(2, 2, {0, 0, 0});
  for (const auto& [y, x] : {std::pair(-1, 0), {0, -1}, {2, 0}, {0, 2}}) {
    canvas.blend(y, x, {255, 255, 255});
  }
  EXPECT_EQ(canvas.take().pixels, Buffer(12));
}

TEST(HostileCanvas, a_picture_of_a_size_that_no_image_has_is_refused) {
  testing::expect_error([] { Canvas(1U << 31U, 1U << 31U, {0, 0, 0}); }, {"too large"});
}

}  // namespace
}  // namespace feedrate::formats
