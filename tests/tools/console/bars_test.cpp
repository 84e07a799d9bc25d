#include "tools/console/bars.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace feedrate::tools {
namespace {

TEST(UnitBars, a_bar_is_as_long_as_its_share_in_eighths) {
  EXPECT_EQ(bar(100, 100, 4), "████");
  EXPECT_EQ(bar(50, 100, 4), "██");
  EXPECT_EQ(bar(60, 100, 4), "██▍");  // 2.4 columns: 19 eighths
  EXPECT_EQ(bar(1, 1'000'000, 4), "▏") << "any value above 0 is visible";
  EXPECT_EQ(bar(0, 100, 4), "");
  EXPECT_EQ(bar(0, 0, 4), "");
}

TEST(HostileBars, no_value_makes_a_bar_longer_than_its_columns) {
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t value : {std::uint64_t{1}, huge / 2, huge}) {
    for (const std::uint64_t largest : {std::uint64_t{1}, huge / 2, huge}) {
      EXPECT_LE(columns_of(bar(value, largest, 10)), 10U) << value << " of " << largest;
      EXPECT_GE(columns_of(bar(value, largest, 10)), 1U) << value << " of " << largest;
    }
  }
}

TEST(UnitBars, a_profile_shows_means_and_leaves_zeros_blank) {
  const std::vector<std::uint64_t> few{0, 1, 4, 8};
  EXPECT_EQ(profile(few, 80), " ▁▄█");
  const std::vector<std::uint64_t> pairs{0, 0, 2, 6, 8, 8};
  EXPECT_EQ(profile(pairs, 3), " ▄█");
  EXPECT_EQ(profile({}, 80), "");
  EXPECT_EQ(profile(std::vector<std::uint64_t>(1000, 0), 5), "     ");
  EXPECT_EQ(columns_of(profile(std::vector<std::uint64_t>(1003, 7), 98)), 98U);
}

TEST(UnitBars, a_column_is_a_character_not_a_byte) {
  EXPECT_EQ(columns_of("größe"), 5U);
  EXPECT_EQ(fitted("größe", 7), "größe  ");
  EXPECT_EQ(fitted("größer", 5), "größ…");
  EXPECT_EQ(fitted("größer", 6), "größer");
  EXPECT_EQ(fitted("größer", 0), "");
  EXPECT_EQ(fitted_name("größer", 6), "größer");
  EXPECT_EQ(fitted_name("größer", 8), "größer  ");
  EXPECT_EQ(fitted_name("lmdb, größer", 8), "lmdb…ßer");
  EXPECT_EQ(fitted_name("lmdb, größer", 7), "lmd…ßer");
  EXPECT_EQ(fitted_name("größer", 2), "g…");
}

TEST(HostileBars, text_from_a_file_cannot_steer_the_terminal) {
  EXPECT_EQ(harmless("plain größe"), "plain größe");
  EXPECT_EQ(harmless("\x1b[2Jgone\r\n\x7f"), "?[2Jgone???");
  EXPECT_EQ(harmless("\xC2\x9B"
                     "31m"),
            "??31m")
      << "the control characters from U+0080";
  EXPECT_EQ(harmless(std::string_view("\0", 1)), "?");
}

TEST(UnitBars, long_text_is_broken_at_blanks_and_indented) {
  EXPECT_EQ(wrapped("aa bb cc", 2, 7), "aa bb\n  cc");
  EXPECT_EQ(wrapped("aa bb", 2, 7), "aa bb");
  EXPECT_EQ(wrapped("a-very-long-word", 2, 7), "a-very-long-word") << "nothing is lost";
  EXPECT_EQ(wrapped("", 2, 7), "");
}

}  // namespace
}  // namespace feedrate::tools
