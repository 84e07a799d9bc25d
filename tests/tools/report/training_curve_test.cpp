#include "tools/report/study/training_curve.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tests/tools/invented_rows.h"

namespace feedrate::tools {
namespace {

class UnitTraining : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  void refused(const std::string& text, const std::vector<std::string_view>& parts) const {
    const auto path = file("bad.json", text);
    try {
      read_training(path);
      ADD_FAILURE() << "taken: " << text;
    } catch (const std::exception& error) {
      for (const std::string_view part : parts) {
        EXPECT_NE(std::string_view(error.what()).find(part), std::string::npos) << error.what();
      }
    }
  }
  testing::TempDirectory directory_;
};

TEST_F(UnitTraining, the_output_of_train_is_read_with_its_curve_and_validations) {
  const TrainingCurve training = read_training(file("a.json", testing::invented_training()));
  EXPECT_EQ(training.name, "lenet on cpu");
  EXPECT_EQ(training.curve.size(), 91U);
  ASSERT_EQ(training.validations.size(), 3U);
  EXPECT_EQ(training.validations.back().step, 900U);
  EXPECT_DOUBLE_EQ(training.loss.value(), 0.12);
}

TEST_F(UnitTraining, trainings_of_one_network_are_named_after_their_files) {
  const auto trainings = read_trainings(
      {file("a.json", testing::invented_training()), file("b.json", testing::invented_training())});
  EXPECT_EQ(trainings[0].name, "a.json");
  EXPECT_EQ(trainings[1].name, "b.json");
}

TEST_F(UnitTraining, a_value_that_is_null_is_absent) {
  const TrainingCurve training =
      read_training(file("a.json", R"({"network":"n","device":"cpu","loss":null,
                         "validations":[{"step":1,"loss":null,"accuracy":0.5}]})"));
  EXPECT_FALSE(training.loss);
  EXPECT_FALSE(training.validations.front().loss);
  EXPECT_DOUBLE_EQ(training.validations.front().accuracy.value(), 0.5);
}

TEST_F(UnitTraining, any_other_file_is_named_and_refused) {
  refused("", {"bad.json", "train --json"});
  refused("loss 0.1", {"bad.json", "train --json"});
  refused("[1,2]", {"bad.json", "train --json"});
  refused(R"({"images":60000})", {"bad.json", "not found"});
  refused(R"({"network":"n","device":"cpu"})", {"bad.json", "neither a curve nor validations"});
  refused(R"({"network":"n","device":"cpu","curve":3})", {"bad.json", "curve is not a list"});
  refused(R"({"network":"n","device":"cpu","curve":[{"loss":1}]})", {"bad.json", "step"});
  EXPECT_THROW(read_training(directory_ / "absent.json"), std::exception);
}

}  // namespace
}  // namespace feedrate::tools
