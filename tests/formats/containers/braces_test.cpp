#include "formats/containers/braces.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error, testing::TempDirectory;
using Names = std::vector<std::string>;

TEST(UnitBraces, ranges_stand_for_numbers_of_as_many_digits) {
  EXPECT_EQ(expand_braces("a-{008..011}.tar"),
            (Names{"a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"}));
  EXPECT_EQ(expand_braces("{0..1}/{9..10}"), (Names{"0/9", "0/10", "1/9", "1/10"}));
  EXPECT_EQ(expand_braces("{00..06..3}"), (Names{"00", "03", "06"}));
  EXPECT_EQ(expand_braces("{1..6..3}"), (Names{"1", "4"}));
  EXPECT_EQ(expand_braces("plain.tar"), (Names{"plain.tar"}));
}

TEST(UnitBraces, lists_stand_for_their_words) {
  EXPECT_EQ(expand_braces("x{0,3}.rec"), (Names{"x0.rec", "x3.rec"}));
  EXPECT_EQ(expand_braces("{a-{0..1},b,}.x"), (Names{"a-0.x", "a-1.x", "b.x", ".x"}));
}

TEST(UnitBraces, the_pattern_of_any_names_stands_for_them) {
  const Names names{"/a b/x.rec", "{1..2}", "a,b", R"(back\slash)", R"(\{)", "c:\\d"};
  const std::vector<fs::path> paths(names.begin(), names.end());
  EXPECT_EQ(expand_braces(brace_pattern(paths)), names);
}

TEST(UnitBraces, what_is_no_pattern_is_an_error) {
  for (const std::string_view pattern :
       {"{a}", "{}", "{1..}", "{..2}", "{3..2}", "{-1..2}", "{1..2", "{1..9..0}", "{a,{b}}"}) {
    expect_error([&] { expand_braces(std::string(pattern)); }, {pattern});
  }
  expect_error([] { expand_braces("{0..18446744073709551615}"); }, {"is not a range"});
  expect_error([] { expand_braces("{0..9999}{0..9999}"); }, {"too many files"});
}

TEST(UnitBraces, a_file_that_is_not_there_is_named) {
  const TempDirectory directory;
  write_text(directory / "a1", "");
  const auto none = [](const fs::path&) { return std::vector<fs::path>(); };
  expect_error([&] { pattern_files(directory / "a{1,2}", none); }, {"a2: No such file", "a{1,2}"});
}

}  // namespace
}  // namespace feedrate::formats
