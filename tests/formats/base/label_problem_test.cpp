#include "formats/base/label_problem.h"

#include <gtest/gtest.h>

namespace feedrate::formats {
namespace {

TEST(UnitLabelProblem, a_label_is_a_number_from_0_below_the_classes_that_are_stated) {
  EXPECT_EQ(label_problem(0, 0), "");
  EXPECT_EQ(label_problem(2'147'483'647, 0), "");
  EXPECT_EQ(label_problem(2, 3), "");
  EXPECT_EQ(label_problem(3, 3), "the label 3 is not below the 3 classes");
  EXPECT_EQ(label_problem(-1, 0), "the label -1 is negative");
  EXPECT_EQ(label_problem(-1, 3), "the label -1 is negative");
  EXPECT_EQ(label_problem(-1, 0, true), "") << "a list of numbers that are no classes";
  EXPECT_EQ(label_problem(-1, 3, true), "the label -1 is negative");
}

}  // namespace
}  // namespace feedrate::formats
