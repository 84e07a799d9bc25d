// `feedrate report` as a person runs it: files it writes, and what it refuses.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/tools/invented_rows.h"
#include "tools/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;
using testing::slurp;

class CommandsReport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream rows(at("rows.jsonl"));
    for (const auto& run : testing::invented_bench()) rows << to_json_line(run) << "\n";
    std::ofstream(at("training.json")) << testing::invented_training();
  }
  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  testing::TempDirectory directory_;
};

TEST_F(CommandsReport, every_chart_becomes_a_file_named_after_its_study) {
  const Said said = feedrate(
      {"report", at("rows.jsonl"), "--svg", at("new/charts"), "--training", at("training.json")});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.errors.find("wrote 10 charts"), std::string::npos) << said.errors;
  const std::string chart =
      slurp(at("new/charts/resnet50-on-imagenet-cuda-fp32-batch-128.delivered.svg"));
  EXPECT_NE(chart.find("pytorch · lmdb × jpeg"), std::string::npos);
  EXPECT_TRUE(chart.ends_with("</svg>\n"));
  EXPECT_NE(slurp(at("new/charts/training.loss.svg")).find("s0 hollow"), std::string::npos);
}

TEST_F(CommandsReport, json_stays_one_object_with_errors_attribution_and_trainings) {
  const Said said =
      feedrate({"report", at("rows.jsonl"), "--json", "--training", at("training.json")});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto object = nlohmann::json::parse(said.output);
  ASSERT_EQ(object.at("studies").size(), 2U);
  const auto& study = object.at("studies").at(1);
  EXPECT_EQ(study.at("dataset"), "imagenet");
  EXPECT_GT(study.at("prediction_error").at("median_percent"), 0);
  EXPECT_FALSE(study.at("attribution").empty());
  EXPECT_EQ(object.at("trainings").at(0).at("name"), "lenet on cpu");
}

TEST_F(CommandsReport, a_file_that_is_not_from_train_is_named) {
  const Said said = feedrate({"report", at("rows.jsonl"), "--training", at("rows.jsonl")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("rows.jsonl: not the output of 'feedrate train --json'"),
            std::string::npos)
      << said.errors;
}

TEST_F(CommandsReport, a_file_in_place_of_the_chart_directory_is_refused) {
  const Said said = feedrate({"report", at("rows.jsonl"), "--svg", at("training.json")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("training.json"), std::string::npos) << said.errors;
}

}  // namespace
}  // namespace feedrate::tools
