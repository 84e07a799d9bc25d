#include "formats/containers/text_classes.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using Names = std::vector<std::string>;

TEST(UnitTextClasses, texts_are_numbered_by_their_bytes_however_they_came) {
  TextClasses one, other, all, reversed;
  EXPECT_EQ(one.add("b"), 0);
  EXPECT_EQ(one.add("\xc3\xa9"), 1);
  EXPECT_EQ(one.add("b"), 0);
  EXPECT_EQ(other.add("a"), 0);
  EXPECT_EQ(other.add("B"), 1);
  for (const TextClasses* some : {&one, &other}) all.add(*some);
  for (const TextClasses* some : {&other, &one}) reversed.add(*some);
  all.number();
  reversed.number();
  EXPECT_EQ(all.names().names, (Names{"B", "a", "b", "\xc3\xa9"}));
  EXPECT_EQ(reversed.names().names, all.names().names);
  EXPECT_EQ(all.count(), 4U);
  EXPECT_EQ(all.label("b"), 2);
  EXPECT_EQ(all.labels_of(one), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(all.labels_of(other), (std::vector<std::int32_t>{1, 0}));
}

TEST(HostileTextClasses, what_is_no_class_is_refused) {
  TextClasses classes;
  expect_error([&] { classes.add(""); }, {"the label is empty text"});
  classes.add("a");
  classes.number();
  expect_error([&] { classes.label(""); }, {"the label is empty text"});
  expect_error([&] { classes.label("b"); }, {"'b'", "was not there when it was opened"});
  TextClasses many;
  for (std::size_t i = 0; i < max_text_classes; ++i) many.add(std::to_string(i));
  EXPECT_EQ(many.add("17"), 17);
  expect_error([&] { many.add("a caption"); },
               {"more than 1048576 different texts as labels", "'a caption'"});
}

}  // namespace
}  // namespace feedrate::formats
