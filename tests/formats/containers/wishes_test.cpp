#include "formats/containers/wishes.h"

#include <gtest/gtest.h>

#include <array>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error, testing::TempDirectory;
using Pair = std::pair<std::string, std::string>;

constexpr std::array all = {Wish::image, Wish::label, Wish::shape, Wish::order};

TEST(UnitWishes, a_path_names_columns_a_shape_and_an_order) {
  const auto [path, wishes] =
      split_wishes("a.bin?image=img&label=fine&shape=32x24x3&order=bgr", all);
  EXPECT_EQ(path, "a.bin");
  EXPECT_EQ(wishes.image, "img");
  EXPECT_EQ(wishes.label, "fine");
  EXPECT_EQ(wishes.shape, (Shape{32, 24, 3}));
  EXPECT_EQ(wishes.bgr, true);
  EXPECT_EQ(split_wishes("a.bin?order=rgb", all).second.bgr, false);
}

TEST(UnitWishes, an_encoded_ampersand_belongs_to_a_name) {
  EXPECT_EQ(split_wishes("a?label=a%26b", all).second.label, "a&b");
  EXPECT_EQ(split_wishes("a?label=50%25&image=%C3%BC", all).second.label, "50%");
  EXPECT_EQ(split_wishes("a?label=50%25&image=%C3%BC", all).second.image, "ü");
}

TEST(UnitWishes, what_is_none_is_refused_by_its_text) {
  constexpr std::array columns = {Wish::image, Wish::label};
  for (const std::string part : {"lable=fine", "x=1", "", "label", "shape=1x1x3", "Label=fine"}) {
    expect_error([&] { split_wishes("a?image=img&" + part, columns); },
                 {"expected ?image=NAME, ?label=NAME", "%26", "found '" + part + "'"});
  }
  expect_error([] { split_wishes("a?label=", all); }, {"expected ?label=NAME", "'label='"});
  expect_error([] { split_wishes("a?label=a&label=b", all); }, {"another, 'label=b'"});
  for (const std::string part :
       {"shape=3x4", "shape=3x4x2", "shape=0x4x3", "shape=3x4x3x", "order=grb"}) {
    expect_error([&] { split_wishes("a?" + part, all); }, {"found '" + part + "'"});
  }
}

TEST(UnitWishes, a_file_with_a_question_mark_in_its_name_is_a_path) {
  const TempDirectory directory;
  const std::string file = (directory / "a?label=b").string();
  write_text(file, "");
  EXPECT_EQ(without_wishes(file), file);
  EXPECT_EQ(without_wishes(file + "?label=c"), file);
  EXPECT_EQ(split_wishes(file + "?label=why?", all).second.label, "why?");
}

TEST(UnitWishes, the_rest_of_a_urls_query_is_the_servers) {
  EXPECT_EQ(split_url_wishes("https://h/a.parquet?X-Id=1&label=fine&X-Sig=a%2Fb=&image=img#top"),
            Pair("https://h/a.parquet?X-Id=1&X-Sig=a%2Fb=#top", "?label=fine&image=img"));
  EXPECT_EQ(split_url_wishes("https://h/d/?label=a%26b?"), Pair("https://h/d/", "?label=a%26b?"));
  for (const char* const theirs :
       {"https://h/a?token", "https://h/a?page=2&", "https://h/a", "s3://b/what?x=1"}) {
    EXPECT_EQ(split_url_wishes(theirs), Pair(theirs, ""));
  }
  EXPECT_EQ(split_url_wishes("s3://b/what?.parquet?label=fine"),
            Pair("s3://b/what?.parquet", "?label=fine"));
}

TEST(UnitWishes, a_part_of_a_url_that_may_be_a_wish_is_refused) {
  for (const char* const near : {"lable=fine", "labels=fine", "Label=fine", "imgae=a", "label"}) {
    expect_error([&] { split_url_wishes(std::string("https://h/a?Sig=secret&") + near); },
                 {"https://h/a: expected '"});
  }
  for (const char* const rest : {"label=a&b", "label=a&", "&label=a"}) {
    expect_error([&] { split_url_wishes(std::string("https://h/a?") + rest); }, {"%26"});
  }
  expect_error([] { split_url_wishes("s3://b/a?label=c&x=1"); }, {"found another part"});
}

}  // namespace
}  // namespace feedrate::formats
