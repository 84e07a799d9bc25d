#include "tools/console/text.h"

#include <gtest/gtest.h>

namespace feedrate::tools {
using namespace formats;

namespace {

TEST(UnitText, digits_stand_in_groups_of_three) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(UnitText, a_quantity_keeps_three_digits_or_more) {
  EXPECT_EQ(quantity(9.876), "9.88");
  EXPECT_EQ(quantity(98.76), "98.8");
  EXPECT_EQ(quantity(6123.7), "6,124");
}

TEST(UnitText, durations_take_the_unit_that_reads_best) {
  EXPECT_EQ(shape_text({28, 30, 3}), "28 × 30 × 3");
  EXPECT_EQ(duration_text(0), "0 µs");
  EXPECT_EQ(duration_text(0.00000024), "0.24 µs");
  EXPECT_EQ(duration_text(0.000042), "42 µs");
  EXPECT_EQ(duration_text(0.0042), "4.2 ms");
  EXPECT_EQ(duration_text(83.25), "83.2 s");
  EXPECT_EQ(duration_text(605), "10:05 min");
  EXPECT_EQ(duration_text(4000), "1:06:40 h");
}

TEST(UnitText, one_thing_is_not_plural) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(2000, "image"), "2,000 images");
}

TEST(UnitText, a_sentence_begins_with_a_capital_where_it_begins_with_a_letter) {
  EXPECT_EQ(capitalized("about 9"), "About 9");
  EXPECT_EQ(capitalized("Zen 5"), "Zen 5");
  EXPECT_EQ(capitalized("9 more"), "9 more");
  EXPECT_EQ(capitalized("änderung"), "änderung");
  EXPECT_EQ(capitalized(""), "");
}

TEST(UnitText, bytes_have_binary_units) {
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(47'040'000), "44.9 MiB");
}

}  // namespace
}  // namespace feedrate::tools
