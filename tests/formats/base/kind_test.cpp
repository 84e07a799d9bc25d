#include "formats/base/kind.h"

#include <gtest/gtest.h>

namespace feedrate::formats {
namespace {

constexpr std::string_view names[] = {"lmdb", "recordio", "png-map"};

TEST(UnitKind, a_swapped_letter_is_still_the_nearest_name) {
  EXPECT_EQ(nearest_name("lmbd", names), "lmdb");
}

TEST(UnitKind, a_word_like_none_of_them_gets_no_suggestion) {
  EXPECT_EQ(nearest_name("parquet", names), "");
}

TEST(UnitKind, a_name_that_people_use_elsewhere_wins_over_a_similar_word) {
  constexpr std::string_view devices[] = {"cpu", "cuda"};
  EXPECT_EQ(nearest_name("gpu", devices), "cuda");
  EXPECT_EQ(nearest_name("CUDA", devices), "cuda");
  constexpr std::string_view splits[] = {"train", "test", "all"};
  EXPECT_EQ(nearest_name("val", splits), "test");
  constexpr std::string_view published[] = {"train", "val"};
  EXPECT_EQ(nearest_name("validation", published), "val");
}

TEST(UnitKind, the_first_name_that_a_word_begins_wins_over_a_similar_word) {
  constexpr std::string_view networks[] = {"lenet", "resnet50", "resnet50-v1", "resnet56"};
  EXPECT_EQ(nearest_name("resnet", networks), "resnet50");
  EXPECT_EQ(nearest_name("r", networks), "");
}

TEST(UnitKind, a_suggestion_spares_the_reader_a_long_list) {
  const std::vector<std::string_view> many = {"a1", "b1", "c1", "d1",   "e1",
                                              "f1", "g1", "h1", "lenet"};
  EXPECT_EQ(unknown_kind("network", "lent", many), "no network 'lent'; did you mean lenet?");
  EXPECT_EQ(unknown_kind("network", "transformer", many),
            "no network 'transformer'; there are a1, b1, c1, d1, e1, f1, g1, h1, lenet");
}

TEST(UnitKind, the_message_lists_every_name_and_the_nearest) {
  EXPECT_EQ(unknown_kind("format", "lmbd", names),
            "no format 'lmbd'; there are lmdb, recordio, png-map; did you mean lmdb?");
}

}  // namespace
}  // namespace feedrate::formats
