// `feedrate report` as a person runs it: what it prints and what it refuses.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/tools/invented_rows.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;

class CommandsReport : public ::testing::Test {
 protected:
  void SetUp() override {
    write("rows.jsonl", 1);
    write("later.jsonl", 1.5);
  }
  /// The invented bench, with every rate times `factor`.
  void write(const std::string& name, double factor) const {
    std::ofstream rows(at(name));
    for (auto run : testing::invented_bench()) {
      for (double& rate : run.repeats) rate *= factor;
      run.images_per_second *= factor;
      rows << to_json_line(run) << "\n";
    }
  }
  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  testing::TempDirectory directory_;
};

TEST_F(CommandsReport, json_stays_one_object_with_errors_and_attribution) {
  const Said said = feedrate({"report", at("rows.jsonl"), "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto object = nlohmann::json::parse(said.output);
  ASSERT_EQ(object.at("studies").size(), 2U);
  const auto& study = object.at("studies").at(1);
  EXPECT_EQ(study.at("dataset"), "imagenet");
  EXPECT_GT(study.at("prediction_error").at("median_percent"), 0);
  EXPECT_FALSE(study.at("attribution").empty());
}

TEST_F(CommandsReport, markdown_goes_to_stdout) {
  const Said said = feedrate({"report", at("rows.jsonl"), "--markdown"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_TRUE(said.output.starts_with("# Feedrate report\n\n- ")) << said.output;
}

TEST_F(CommandsReport, the_results_are_not_written_over) {
  const std::string before = testing::slurp(at("rows.jsonl"));
  for (const char* option : {"--html", "--csv"}) {
    const Said said = feedrate({"report", at("rows.jsonl"), option, at("./rows.jsonl")});
    EXPECT_EQ(said.code, exit_failed);
    EXPECT_NE(said.errors.find("would write over what RESULTS reads"), std::string::npos)
        << said.errors;
  }
  EXPECT_EQ(testing::slurp(at("rows.jsonl")), before);
}

TEST_F(CommandsReport, a_comparison_ends_with_the_answer) {
  const Said said = feedrate({"report", at("rows.jsonl"), at("later.jsonl"), "--compare"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.output.find("Did it get faster? Yes."), std::string::npos) << said.output;
  EXPECT_NE(said.output.find("1.500"), std::string::npos) << said.output;
  const Said text =
      feedrate({"report", at("rows.jsonl"), at("rows.jsonl"), "--compare", "--markdown"});
  EXPECT_NE(text.output.find("Did it get faster? No difference was found."), std::string::npos)
      << text.output;
}

TEST_F(CommandsReport, two_files_are_compared_or_refused) {
  EXPECT_EQ(feedrate({"report", at("rows.jsonl"), at("later.jsonl")}).code, exit_misused);
  EXPECT_EQ(feedrate({"report", at("rows.jsonl"), "--compare"}).code, exit_misused);
  EXPECT_EQ(feedrate({"report", at("rows.jsonl"), "--json", "--markdown"}).code, exit_misused);
  std::ofstream(at("other.jsonl")) << to_json_line(testing::supply("folder", 3, 5)) << "\n";
  const Said said = feedrate({"report", at("rows.jsonl"), at("other.jsonl"), "--compare"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("other.jsonl: holds no point of "), std::string::npos) << said.errors;
}

}  // namespace
}  // namespace feedrate::tools
