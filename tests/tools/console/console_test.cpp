#include "tools/console/console.h"

#include <gtest/gtest.h>

namespace feedrate::tools {
namespace {

constexpr ProgressState halfway{"lmdb train", "images", 30'000, 60'000, 2.0};

TEST(UnitProgress, the_line_shows_share_count_rate_and_time_left) {
  EXPECT_EQ(
      progress_line(halfway, 120),
      "lmdb train   50 % ━━━━━━━━━━━━────────────  30,000 / 60,000 images  15,000/s  0:02 left");
}

TEST(UnitProgress, a_narrow_terminal_shortens_the_bar_then_loses_it_and_the_count_last) {
  EXPECT_EQ(progress_line(halfway, 73),
            "lmdb train   50 % ━━━━━─────  30,000 / 60,000 images  15,000/s  0:02 left");
  EXPECT_EQ(progress_line(halfway, 60), "lmdb train  30,000 / 60,000 images  15,000/s  0:02 left");
  EXPECT_EQ(progress_line(halfway, 50), "30,000 / 60,000 images  15,000/s  0:02 left");
  EXPECT_EQ(progress_line(halfway, 24), "30,000 / 60,000 images");
}

TEST(UnitProgress, an_unknown_total_shows_no_time_left) {
  EXPECT_EQ(progress_line({"load", "images", 500, 0, 1.0}, 80), "load  500 images  500/s");
}

TEST(UnitProgress, more_than_the_total_does_not_overflow_the_bar) {
  const std::string line = progress_line({"t", "images", 120, 100, 1.0}, 120);
  EXPECT_NE(line.find("100 %"), std::string::npos) << line;
  EXPECT_EQ(line.find("left"), std::string::npos) << line;
}

TEST(UnitProgress, nothing_done_yet_divides_by_nothing) {
  EXPECT_EQ(progress_line({"t", "images", 0, 0, 0.0}, 80), "t  0 images  0.00/s");
}

}  // namespace
}  // namespace feedrate::tools
