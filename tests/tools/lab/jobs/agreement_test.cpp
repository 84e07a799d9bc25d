// `feedrate train --resume` on other terms than those of the checkpoint.

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/io/file.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;
using testing::TempDirectory;
using Words = std::vector<std::string>;

/// Two datasets of 200 images, `one` and `two`, and a training on the first of them.
class CommandsResumedTerms : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* seed : {"1", "2"}) {
      expect_done({"synth", "mnist", "--images", "200", "--seed", seed, "--out", at(seed)});
      expect_done({"convert", "mnist", at(seed), "--to", "lmdb", "--split", "train", "--out",
                   at(std::string("set") + seed)});
    }
    expect_done(training("set1", {"--steps", "2", "--checkpoint", at("two.st")}));
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  Words training(const std::string& dataset, const Words& more) const {
    Words words{"train", at(dataset), "--network", "lenet", "--batch", "50"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  Said resume(const std::string& dataset, const Words& more) const {
    Words words = training(dataset, {"--resume", at("two.st")});
    words.insert(words.end(), more.begin(), more.end());
    return feedrate(words);
  }

  static void expect_done(const Words& words) {
    const Said said = feedrate(words);
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }

  TempDirectory directory_;
};

TEST_F(CommandsResumedTerms, are_not_mentioned_where_they_are_the_same) {
  for (const Words& words :
       {Words{}, Words{"--lr", "0.01"}, Words{"--epochs", "3"}, Words{"--val", at("set2")}}) {
    const Said said = resume("set1", words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    EXPECT_EQ(said.errors.find("when it was trained"), std::string::npos) << said.errors;
  }
}

TEST_F(CommandsResumedTerms, are_said_with_both_values_where_training_can_go_on) {
  const std::pair<Words, std::string> cases[] = {
      {{"--lr", "0.05"}, "two.st: --lr was 0.01 when it was trained, and is now 0.05"},
      {{"--momentum", "0.5"}, "--momentum was 0.9 when it was trained, and is now 0.5"},
      {{"--schedule", "cosine"}, " when it was trained, and is now cosine"},
      {{"--on-bad", "skip"}, "--on-bad was fail when it was trained, and is now skip"}};
  for (const auto& [words, sentence] : cases) {
    const Said said = resume("set1", words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    EXPECT_NE(said.errors.find(sentence), std::string::npos) << said.errors;
  }
}

TEST_F(CommandsResumedTerms, of_a_schedule_that_follows_the_length_include_it) {
  expect_done(training("set1", {"--checkpoint", at("two.st"), "--schedule", "cosine"}));
  const Said said = resume("set1", {"--schedule", "cosine", "--epochs", "3"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.errors.find("the length of the schedule was 4 steps when it was trained, and is "
                             "now 12 steps"),
            std::string::npos)
      << said.errors;
}

TEST_F(CommandsResumedTerms, are_refused_where_the_position_means_nothing) {
  const Said other = resume("set2", {});
  EXPECT_EQ(other.code, exit_failed);
  EXPECT_NE(other.errors.find("two.st: the digest of the dataset was "), std::string::npos)
      << other.errors;
  std::string backwards;
  for (int i = 200; i-- > 0;) backwards += std::to_string(i) + "\n";
  formats::write_text(at("order"), backwards);
  const Said ordered = resume("set1", {"--order", at("order")});
  EXPECT_EQ(ordered.code, exit_failed);
  EXPECT_NE(ordered.errors.find("two.st: the order of an epoch was every image once when it was "
                                "trained, and is now 200 picks, fingerprint "),
            std::string::npos)
      << ordered.errors;
}

TEST_F(CommandsResumedTerms, include_the_order_in_which_a_format_is_read) {
  // A folder holds the same images, class by class. Its sidecar has the digest of their order when
  // they were written: that of the archive, as in the LMDB.
  expect_done(
      {"convert", "mnist", at("1"), "--to", "folder", "--split", "train", "--out", at("folder")});
  expect_done({"convert", "dataset", at("folder"), "--to", "recordio", "--out", at("sorted")});
  for (const char* other : {"folder", "sorted"}) {
    const Said said = resume(other, {});
    EXPECT_EQ(said.code, exit_failed) << other;
    EXPECT_NE(said.errors.find("of the dataset"), std::string::npos) << said.errors;
  }
  expect_done({"convert", "mnist", at("1"), "--to", "recordio", "--split", "train", "--out",
               at("records")});
  const Said same = resume("records", {});
  EXPECT_EQ(same.code, exit_done) << same.errors;
  EXPECT_EQ(same.errors.find("when it was trained"), std::string::npos) << same.errors;
  expect_done(training("folder", {"--steps", "2", "--checkpoint", at("two.st")}));
  EXPECT_EQ(resume("folder", {}).code, exit_done);
}

TEST_F(CommandsResumedTerms, include_every_entry_of_an_order) {
  std::string order;
  for (int i = 0; i < 3000; ++i) order += std::to_string(i % 200) + "\n";
  formats::write_text(at("order"), order);
  expect_done(
      training("set1", {"--steps", "2", "--checkpoint", at("two.st"), "--order", at("order")}));
  EXPECT_EQ(resume("set1", {"--order", at("order"), "--steps", "3"}).code, exit_done);
  order.replace(order.find("\n57\n"), 4, "\n58\n");
  formats::write_text(at("order"), order);
  const Said said = resume("set1", {"--order", at("order"), "--steps", "3"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("the order of an epoch was 3000 picks, fingerprint "),
            std::string::npos)
      << said.errors;
}

/// Gives the files of each class each other's names, the last one's to the first.
void reverse_within_classes(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> directories;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) directories.push_back(entry.path());
  for (const fs::path& directory : directories) {
    std::vector<fs::path> files(fs::directory_iterator(directory), {});
    std::ranges::sort(files);
    for (const fs::path& file : files) fs::rename(file, file.string() + ".new");
    for (std::size_t i = 0; i < files.size(); ++i)
      fs::rename(files[i].string() + ".new", files[files.size() - 1 - i]);
  }
}

// The JPEGs that are kept have the digest of their bytes, the others that of their pixels.
TEST_F(CommandsResumedTerms, include_the_order_of_images_that_only_their_pixels_tell) {
  expect_done({"convert", "mnist", at("1"), "--to", "folder", "--encode", "jpeg", "--split",
               "train", "--out", at("folder")});
  expect_done(
      {"convert", "folder", at("folder"), "--to", "recordio", "--no-check", "--out", at("kept")});
  const Words raw{"convert", "folder", at("folder"), "--to", "lmdb", "--encode", "raw", "--out"};
  const auto convert = [&](const std::string& name) {
    Words words = raw;
    words.push_back(at(name));
    expect_done(words);
  };
  convert("same");
  reverse_within_classes(directory_ / "folder");
  convert("reversed");
  expect_done(training("kept", {"--steps", "2", "--checkpoint", at("two.st")}));
  const Said reversed = resume("reversed", {});
  EXPECT_EQ(reversed.code, exit_failed);
  EXPECT_NE(reversed.errors.find("the fingerprint of the dataset's images was "), std::string::npos)
      << reversed.errors;
  const Said same = resume("same", {});
  EXPECT_EQ(same.code, exit_done) << same.errors;
}

TEST_F(CommandsResumedTerms, do_not_depend_on_the_sidecar) {
  std::filesystem::remove(directory_ / "set1/feedrate.json");
  const Said said = resume("set1", {});
  EXPECT_EQ(said.code, exit_done) << said.errors;
}

TEST_F(CommandsResumedTerms, are_those_of_a_copy_in_the_order_of_reading) {
  expect_done(
      {"convert", "mnist", at("1"), "--to", "folder", "--split", "train", "--out", at("folder")});
  expect_done({"convert", "dataset", at("folder"), "--to", "recordio", "--out", at("copy")});
  for (const auto& [first, second] : {std::pair("folder", "copy"), std::pair("copy", "folder")}) {
    expect_done(training(first, {"--steps", "2", "--checkpoint", at("two.st")}));
    const Said said = resume(second, {});
    EXPECT_EQ(said.code, exit_done) << said.errors;
    EXPECT_EQ(said.errors.find("when it was trained"), std::string::npos) << said.errors;
  }
}

}  // namespace
}  // namespace feedrate::tools
