#include "tools/program/cluster/status.h"

#include <gtest/gtest.h>

#include "formats/io/directory_lock.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

class UnitStatus : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"synth", "mnist", "--images", "300", "--out", (directory_ / "archives").string()});
  }

  static void run(const std::vector<std::string>& words) {
    const testing::Said said = testing::feedrate(words);
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }

  void convert(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"convert", "mnist",      (directory_ / "archives").string(),
                                      "--to",    "recordio",   "--encode",
                                      "png",     "--shards",   "4",
                                      "--out",   out_.string()};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
  }

  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  TempDirectory directory_;
  fs::path out_ = directory_ / "out";
};

TEST_F(UnitStatus, pieces_are_done_running_failed_or_waiting) {
  convert({"--part", "2/4"});
  const fs::path first = directory_ / "out.part-1-of-4.partial";
  const fs::path third = directory_ / "out.part-3-of-4.partial";
  fs::create_directory(first);
  fs::create_directory(third);
  const DirectoryLock running(third);
  const ConversionStatus status = status_of(out_);
  ASSERT_EQ(status.pieces.size(), 4U);
  EXPECT_EQ(status.pieces[0].state, PieceState::failed);
  EXPECT_EQ(status.pieces[1].state, PieceState::done);
  EXPECT_EQ(status.pieces[1].samples, 75U);
  EXPECT_EQ(status.pieces[2].state, PieceState::running);
  EXPECT_EQ(status.pieces[3].state, PieceState::waiting);
  EXPECT_FALSE(status.whole);
  // One piece runs, and three of 75 images are not done; at the rate of the one that is.
  const double seconds = status.pieces[1].seconds;
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(*status.samples_per_second(), 75 / seconds, 1e-6 * 75 / seconds);
  EXPECT_NEAR(*status.seconds_left(), 3 * seconds, 1e-6 * seconds);
  const std::string text = status_text(status);
  EXPECT_TRUE(has(text, "4 pieces: 1 done, 1 running, 1 failed, 1 waiting")) << text;
  EXPECT_TRUE(has(text, "failed: 1;")) << text;
}

TEST_F(UnitStatus, nothing_runs_so_no_rate_is_invented) {
  convert({"--part", "1/2"});
  const ConversionStatus status = status_of(out_);
  EXPECT_FALSE(status.samples_per_second());
  EXPECT_FALSE(status.seconds_left());
  EXPECT_EQ(status.samples(), 150U);
}

TEST_F(UnitStatus, parts_that_are_all_done_wait_for_the_join) {
  convert({"--part", "1/2"});
  convert({"--part", "2/2"});
  EXPECT_TRUE(has(status_text(status_of(out_)), "--join")) << status_text(status_of(out_));
  fs::create_directory(directory_ / "out.partial");
  const DirectoryLock joiner(directory_ / "out.partial");
  EXPECT_TRUE(status_of(out_).joining);
}

TEST_F(UnitStatus, what_one_process_makes_is_one_piece) {
  fs::create_directory(directory_ / "out.partial");
  EXPECT_EQ(status_of(out_).count(PieceState::failed), 1U);
  fs::remove_all(directory_ / "out.partial");
  convert({});
  const ConversionStatus status = status_of(out_);
  EXPECT_TRUE(status.whole);
  EXPECT_TRUE(has(status_text(status), "whole, 300 images")) << status_text(status);
}

TEST(HostileStatus, nothing_at_all_is_an_error_that_says_what_was_looked_for) {
  const TempDirectory directory;
  expect_error([&] { status_of(directory / "out"); }, {"out: is not there", "out.part-1-of-N"});
}

}  // namespace
}  // namespace feedrate::tools
