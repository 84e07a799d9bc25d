#include "formats/contact_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate {
namespace {

using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

Image sheet_of(const std::vector<testing::Example>& examples, std::uint64_t count,
               unsigned columns) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
  return contact_sheet(*open_dataset(temporary / "set"), count, columns);
}

TEST(UnitContactSheet, small_images_are_enlarged_by_whole_factors_into_a_grid) {
  const Image sheet = sheet_of(make_examples({28, 28, 1}, 12), 10, 4);
  // Cells of 3 x 28 pixels with their label below and 10 pixels around: 3 rows of 4.
  EXPECT_EQ(sheet.shape, (Shape{3 * (84 + 20 + 20), 4 * (84 + 20), 3}));
}

TEST(UnitContactSheet, an_enlarged_pixel_is_a_square_of_its_colour) {
  const auto examples = make_examples({32, 32, 3}, 1);
  const Image sheet = sheet_of(examples, 1, 1);
  const auto pixel = [](const Image& image, std::size_t y, std::size_t x, std::size_t c) {
    return image.pixels[(y * image.shape.width + x) * image.shape.channels + c];
  };
  for (std::size_t y = 0; y < 96; ++y) {
    for (std::size_t x = 0; x < 96; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(pixel(sheet, y + 10, x + 10, c), pixel(examples[0].image, y / 3, x / 3, c));
      }
    }
  }
}

TEST(UnitContactSheet, large_images_are_shrunk_and_odd_ones_fit) {
  const Image sheet = sheet_of(make_examples({300, 600, 3}, 2), 5, 8);
  EXPECT_EQ(sheet.shape, (Shape{64 + 20 + 20, 2 * (128 + 20), 3}));
  EXPECT_GT(sheet_of(make_examples({1, 400, 1}, 1), 1, 1).shape.height, 20U);
}

TEST(UnitContactSheet, labels_are_drawn_and_differ) {
  std::vector<testing::Example> examples = make_examples({16, 16, 1}, 1);
  std::set<std::string> pictures;
  for (int label = -1; label < 11; ++label) {
    examples[0].label = label;
    pictures.insert(hex(sha256(sheet_of(examples, 1, 1).pixels)));
  }
  EXPECT_EQ(pictures.size(), 12U);
}

}  // namespace
}  // namespace feedrate
