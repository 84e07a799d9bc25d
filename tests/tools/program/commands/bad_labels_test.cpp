// --on-bad reaches what is read before the first batch: classes, weights, groups.

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;
using testing::TempDirectory;

TEST(CommandsBadLabels, a_bad_image_has_a_label_before_the_first_batch) {
  const TempDirectory directory;
  const auto at = [&](const char* name) { return (directory / name).string(); };
  ASSERT_EQ(feedrate({"synth", "mnist", "--images", "300", "--out", at("archives")}).code,
            exit_done);
  ASSERT_EQ(feedrate({"convert", "mnist", at("archives"), "--to", "recordio", "--encode", "png",
                      "--out", at("set")})
                .code,
            exit_done);
  std::string records = formats::read_text(at("set/data.rec"));
  records.replace(records.find("\x89PNG", records.size() / 2), 4, "junk");
  formats::write_text(at("set/data.rec"), records);
  std::filesystem::remove(at("set/feedrate.json"));  // which states the classes
  const std::vector<std::vector<std::string>> orders{
      {}, {"--weights", "balanced"}, {"--groups", "5x4"}};
  for (const std::vector<std::string>& order : orders) {
    std::vector<std::string> words{"train", at("set"), "--network", "lenet",    "--batch",
                                   "20",    "--steps", "2",         "--on-bad", "skip"};
    words.insert(words.end(), order.begin(), order.end());
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
  }
}

}  // namespace
}  // namespace feedrate::tools
