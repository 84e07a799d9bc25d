// `feedrate convert` by several processes, as mpirun starts them.

#include "tools/program/cluster/convert_ranks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "formats/io/partial_directory.h"
#include "tests/support/in_text.h"
#include "tests/support/mpirun.h"
#include "tests/support/partial_writes.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
using nlohmann::json;
namespace fs = std::filesystem;

bool has_whole_part(const fs::path& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (has(name, ".part-") && !has(name, ".partial")) return true;
  }
  return false;
}

class CommandsConvertRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "no mpirun is installed, or this build found no MPI";
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  void make_archives(unsigned images, const std::string& name = "archives") const {
    const Said said = testing::feedrate(
        {"synth", "mnist", "--images", std::to_string(images), "--out", at(name)});
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }

  std::vector<std::string> converting(const std::string& out, std::vector<std::string> more = {},
                                      const std::string& archives = "archives") const {
    std::vector<std::string> words = {
        program_under_test(), "convert", "mnist",     at(archives), "--to",  "recordio",
        "--encode",           "png",     "--threads", "1",          "--out", at(out)};
    if (more.empty()) more = {"--shards", "16"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Runs `words` as rank, which leaves its process id and its exit code in files.
  std::vector<std::string> noted(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {
        "sh", "-c",
        // mpirun ends all ranks as soon as one has failed: they still note how they ended.
        "trap : TERM; \"$@\" & pid=$!; echo $pid > $0/pid.$OMPI_COMM_WORLD_RANK; "
        "wait $pid; code=$?; while kill -0 $pid 2> /dev/null; do wait $pid; code=$?; done; "
        "echo $code > $0/code.$OMPI_COMM_WORLD_RANK; exit $code",
        directory_.path().string()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  std::string code_of(unsigned rank) const { return slurp(at("code." + std::to_string(rank))); }
  /// mpirun may end a rank (143) that knows of the error, too, and is a moment later.
  void expect_both_failed() const {
    const std::string codes = code_of(0) + code_of(1);
    EXPECT_TRUE(codes == "1\n1\n" || codes == "1\n143\n" || codes == "143\n1\n") << codes;
  }

  TempDirectory directory_;
};

TEST_F(CommandsConvertRanks, two_and_four_make_the_files_that_one_makes) {
  make_archives(1500);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--shards", "16", "--split", "all"},
        {"--shards", "3", "--shuffle", "7", "--limit", "1000"}}) {
    const Said alone = run_program(program_under_test(), [&] {
      std::vector<std::string> words = converting("one", options);
      words.erase(words.begin());
      return words;
    }());
    ASSERT_EQ(alone.code, exit_done) << alone.errors;
    for (const unsigned ranks : {2U, 4U}) {
      std::vector<std::string> words = converting("many", options);
      words.emplace_back("--json");
      const Said said = mpirun(ranks, words);
      ASSERT_EQ(said.code, exit_done) << said.errors;
      const json object = json::parse(said.output);  // once, by the first rank
      EXPECT_EQ(object.at("splits").size(), options.size() == 4 ? 2U : 1U);
      EXPECT_EQ(files_of(at("many")), files_of(at("one")));
      for (const auto& entry : fs::directory_iterator(directory_.path())) {
        EXPECT_FALSE(has(entry.path().filename().string(), ".part")) << entry.path();
      }
      fs::remove_all(at("many"));
    }
    fs::remove_all(at("one"));
  }
}

TEST_F(CommandsConvertRanks, after_a_rank_was_killed_the_same_line_keeps_what_is_whole) {
  make_archives(30000);
  Started job("mpirun", ranks_of(2, noted(converting("out"))));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!has_whole_part(directory_.path()) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(std::stoi(slurp(at("pid.1"))), SIGKILL);
  EXPECT_NE(job.finish().code, exit_done);
  EXPECT_FALSE(fs::exists(at("out")));
  ASSERT_TRUE(has_whole_part(directory_.path()));
  const Said status = testing::feedrate({"status", at("out"), "--json"});
  EXPECT_EQ(json::parse(status.output).at("running"), 0) << status.output;

  std::vector<std::string> words = converting("out");
  words.emplace_back("--json");
  const Said again = mpirun(4, words);  // another number of ranks, the same pieces
  ASSERT_EQ(again.code, exit_done) << again.errors;
  const json split = json::parse(again.output).at("splits")[0];
  EXPECT_EQ(split.at("samples"), 30000);
  EXPECT_GE(split.at("resumed_at"), 30000 / 16);
  ASSERT_EQ(mpirun(1, converting("one")).code, exit_done);
  EXPECT_EQ(files_of(at("out")), files_of(at("one")));

  const Said third = mpirun(2, converting("out"));
  EXPECT_EQ(third.code, exit_done) << third.errors;
  EXPECT_TRUE(has(third.output, "whole from an earlier run")) << third.output;
}

TEST_F(CommandsConvertRanks, a_second_job_for_the_same_output_is_told) {
  make_archives(100);
  const PartialDirectory first(at("out"));
  const Said second = mpirun(2, noted(converting("out")));
  EXPECT_TRUE(has(second.errors, "out.partial: another process is writing it")) << second.errors;
  expect_both_failed();
}

TEST_F(CommandsConvertRanks, what_cannot_be_shared_is_refused_with_what_to_do) {
  make_archives(100);
  const Said whole = mpirun(2, converting("out", {"--shards", "1"}));
  EXPECT_TRUE(has(whole.errors, "give --shards 8, or at least 2")) << whole.errors;
  const Said lmdb = mpirun(2, {program_under_test(), "convert", "mnist", at("archives"), "--to",
                               "lmdb", "--out", at("out")});
  EXPECT_EQ(lmdb.code, exit_failed);
  EXPECT_TRUE(has(lmdb.errors, "lmdb is one file")) << lmdb.errors;
  EXPECT_TRUE(has(lmdb.errors, "recordio, tfrecord, webdataset")) << lmdb.errors;
}

TEST_F(CommandsConvertRanks, a_rank_that_sees_other_files_is_named_with_what_it_sees) {
  make_archives(100);
  make_archives(90, "other/archives");
  const auto two = [&](const std::vector<std::string>& one, const std::vector<std::string>& other) {
    std::vector<std::string> words = ranks_of(1, noted(one));
    words.insert(words.end(), {":", "-n", "1"});
    const std::vector<std::string> second = noted(other);
    words.insert(words.end(), second.begin(), second.end());
    return run_program("mpirun", words);
  };
  const Said inputs = two(converting("out"), converting("out", {}, "other/archives"));
  EXPECT_TRUE(has(inputs.errors, "rank 1 of 2 on ")) << inputs.errors;
  EXPECT_TRUE(has(inputs.errors, "expected 'input train-images")) << inputs.errors;
  expect_both_failed();
  const Said output = two(converting("out"), converting("elsewhere"));
  EXPECT_TRUE(has(output.errors, "rank 1 of 2 on ")) << output.errors;
  EXPECT_TRUE(has(output.errors, "elsewhere.partial: expected the directory that rank 0 made"))
      << output.errors;
  EXPECT_FALSE(fs::exists(at("out.partial")));
}

TEST_F(CommandsConvertRanks, a_piece_with_other_options_is_named_and_ends_every_rank) {
  make_archives(100);
  ASSERT_EQ(
      mpirun(1, converting("out", {"--shards", "16", "--shuffle", "1", "--part", "1/8"})).code,
      exit_done);
  const Said said = mpirun(2, noted(converting("out")));
  EXPECT_TRUE(has(said.errors, "piece 1 of 8 of train: ")) << said.errors;
  EXPECT_TRUE(has(said.errors, "was made with '--shuffle 1', now it is '--shards 16'"))
      << said.errors;
  expect_both_failed();
  EXPECT_FALSE(fs::exists(at("out")));
  EXPECT_FALSE(fs::exists(at("out.partial")));
}

}  // namespace
}  // namespace feedrate::tools
