#include "formats/base/imagenet_classes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/base/text.h"
#include "formats/base/wnid.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/data.h"

namespace feedrate::formats {
namespace {

TEST(UnitImagenetClasses, they_are_a_thousand_sorted_wnids_with_words) {
  const auto& wnids = imagenet_wnids();
  ASSERT_EQ(wnids.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(wnids));
  EXPECT_TRUE(std::ranges::all_of(wnids, is_wnid));
  EXPECT_EQ(imagenet_words().size(), 1000U);
  EXPECT_TRUE(std::ranges::none_of(imagenet_words(), &std::string::empty));
  EXPECT_EQ(wnids[65], "n01751748");
  EXPECT_EQ(imagenet_words()[65], "sea snake");
}

TEST(UnitImagenetClasses, a_label_is_the_place_of_its_wnid) {
  EXPECT_EQ(imagenet_label("n01440764"), 0);
  EXPECT_EQ(imagenet_label("n15075141"), 999);
  EXPECT_EQ(imagenet_label("n00000000"), std::nullopt);
  EXPECT_EQ(imagenet_label("n99999999"), std::nullopt);
}

TEST(UnitImagenetClasses, every_id_is_that_of_one_label) {
  EXPECT_EQ(imagenet_wnids()[static_cast<std::size_t>(label_of_imagenet_id(1))], "n02119789");
  EXPECT_EQ(imagenet_wnids()[static_cast<std::size_t>(label_of_imagenet_id(1000))], "n03255030");
  EXPECT_EQ(label_of_imagenet_id(490), 65);
  for (std::int32_t label = 0; label < 1000; ++label) {
    EXPECT_EQ(label_of_imagenet_id(imagenet_id_of_label(label)), label);
  }
}

// The digest of the table that was compared with the published meta.mat.
TEST(UnitImagenetClasses, the_table_is_that_of_the_published_devkit) {
  Hasher hasher;
  for (std::size_t id = 1; id <= 1000; ++id) {
    const auto label = static_cast<std::size_t>(label_of_imagenet_id(id));
    hasher.add(as_bytes(imagenet_wnids()[label] + " " + imagenet_words()[label] + "\n"));
  }
  EXPECT_EQ(hex(hasher.finish()),
            "945d64032dc26024673fe1e35161736dabd5e014b2fe06e1e209948b541d3b2c");
}

TEST(InteropImagenetClasses, wnids_and_words_are_those_of_caffes_list) {
  const auto list = testing::data_file("imagenet/synset_words.txt");
  if (!list) GTEST_SKIP() << "Caffe's list is not on this machine";
  const std::string text = read_text(*list);
  std::string_view rest = text;
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(take_line(rest), imagenet_wnids()[i] + " " + imagenet_words()[i]);
  }
}

}  // namespace
}  // namespace feedrate::formats
