// `feedrate verify` with the real binary.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/in_text.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using testing::Example;
using testing::feedrate;
using testing::make_examples;
using testing::Said;
using testing::TempDirectory;

class CommandsVerify : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  void write(const std::string& name, const std::vector<Example>& examples) const {
    write_dataset(container("recordio"), png_codec, at(name), examples);
  }

  static std::string text(const std::vector<std::string>& arguments, int code) {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, code) << said.errors << said.output;
    return said.output;
  }

  static ordered_json json(std::vector<std::string> arguments, int code) {
    arguments.emplace_back("--json");
    return ordered_json::parse(text(arguments, code));
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsVerify, notes_are_shown_and_are_no_failure) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 20);
  examples[11] = examples[1];
  write("set", examples);
  const std::string said = text({"verify", at("set")}, exit_done);
  testing::expect_part(
      said, "20 images read and decoded, sound\n  notes\n    samples 1 (00001.png) and 11");
  testing::expect_part(said, "classes       10, 2 images each");
  const ordered_json object = json({"verify", at("set")}, exit_done);
  EXPECT_TRUE(object.at("findings").empty());
  EXPECT_EQ(object.at("notes").at(0).at("problem"), "hold the same image, of class 1");
  EXPECT_EQ(object.at("bytes_digest").get<std::string>().size(), 64U);
}

TEST_F(CommandsVerify, findings_exit_1_and_a_sample_that_cannot_be_decoded_leaves_no_digest) {
  write_dataset(container("png-map"), png_codec, at("set"), make_examples({8, 8, 1}, 20));
  std::filesystem::resize_file(at("set/train/00003.png"), 50);
  testing::expect_part(text({"verify", at("set")}, exit_failed),
                       "1 finding\n  findings\n    sample 3 (train/00003.png): ");
  EXPECT_TRUE(json({"verify", at("set")}, exit_failed).at("digest").is_null());
  const std::string against = text({"verify", at("set"), "--against", at("set")}, exit_failed);
  testing::expect_part(against, "NOT equal: sample 3 is damaged.");
}

TEST_F(CommandsVerify, a_comparison_counts_what_differs_and_what_only_one_has) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 20);
  write("a", examples);
  std::swap(examples[3], examples[9]);
  write("b", examples);
  std::string said = text({"verify", at("a"), "--against", at("b")}, exit_failed);
  testing::expect_part(said, "NOT equal: sample 3 differs: label 3, 8 × 8 × 1 here, label 9");
  testing::expect_part(said, "2 positions out of place: the images are the same in another order");
  examples[5].label = 8;
  examples.resize(18);
  write("c", examples);
  said = text({"verify", at("b"), "--against", at("c")}, exit_failed);
  testing::expect_part(said, "3 positions not the same");
  testing::expect_part(said, "3 samples only here, the first is 5 (label 5, 8 × 8 × 1)");
  testing::expect_part(said, "1 sample only there, the first is 5 (label 8, 8 × 8 × 1)");
  const ordered_json object = json({"verify", at("b"), "--against", at("c")}, exit_failed);
  EXPECT_EQ(object.at("first_difference"), 5);
  EXPECT_EQ(object.at("different"), 3);
  EXPECT_EQ(object.at("missing"), 3);
  EXPECT_EQ(object.at("extra"), 1);
  EXPECT_EQ(object.at("same_set"), false);
}

}  // namespace
}  // namespace feedrate::tools
