#include "formats/inspect/compare.h"

#include <gtest/gtest.h>

namespace feedrate::formats {
namespace {

/// A digest a letter.
std::vector<Sha256> digests(std::string_view letters) {
  std::vector<Sha256> list;
  for (const char letter : letters) list.push_back(sha256(as_bytes({&letter, 1})));
  return list;
}

Comparison compared(std::string_view first, std::string_view second) {
  return compare(digests(first), digests(second));
}

TEST(UnitCompare, equal_datasets_differ_in_nothing) {
  for (const char* letters : {"", "a", "abcaab"}) {
    const Comparison result = compared(letters, letters);
    EXPECT_TRUE(result.equal());
    EXPECT_TRUE(result.same_set());
    EXPECT_FALSE(result.first);
  }
}

TEST(UnitCompare, another_order_is_the_same_set) {
  const Comparison result = compared("abcd", "abdc");
  EXPECT_FALSE(result.equal());
  EXPECT_TRUE(result.same_set());
  EXPECT_EQ(result.first, 2U);
  EXPECT_EQ(result.different, 2U);
}

TEST(UnitCompare, what_only_one_has_is_counted_and_the_first_named) {
  const Comparison result = compared("axbycz", "abcw");
  EXPECT_EQ(result.first, 1U);
  EXPECT_EQ(result.different, 5U);
  EXPECT_EQ(result.missing, 3U);
  EXPECT_EQ(result.first_missing, 1U);
  EXPECT_EQ(result.extra, 1U);
  EXPECT_EQ(result.first_extra, 3U);
}

TEST(UnitCompare, repeats_count_as_often_as_they_are_there) {
  const Comparison result = compared("aab", "abb");
  EXPECT_EQ(result.missing, 1U);
  EXPECT_EQ(result.extra, 1U);
  EXPECT_EQ(compared("ab", "abab").extra, 2U);
  EXPECT_EQ(compared("ab", "abab").first, 2U);
}

TEST(UnitCompare, a_sample_that_could_not_be_decoded_equals_none) {
  std::vector<Sha256> list = digests("abc");
  list[1] = {};
  const Comparison result = compare(list, list);
  EXPECT_EQ(result.different, 1U);
  EXPECT_EQ(result.first, 1U);
  EXPECT_EQ(result.missing, 1U);
  EXPECT_EQ(result.extra, 1U);
}

TEST(UnitCompare, nothing_compares_with_something) {
  EXPECT_EQ(compared("", "ab").extra, 2U);
  EXPECT_EQ(compared("ab", "").missing, 2U);
}

}  // namespace
}  // namespace feedrate::formats
