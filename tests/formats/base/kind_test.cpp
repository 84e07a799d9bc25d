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

TEST(UnitKind, the_message_lists_every_name_and_the_nearest) {
  EXPECT_EQ(unknown_kind("format", "lmbd", names),
            "no format 'lmbd'; there are lmdb, recordio, png-map; did you mean lmdb?");
}

}  // namespace
}  // namespace feedrate::formats
