// `feedrate convert --part auto`, as the tasks of a Slurm array and the processes of torchrun run it.

#include "tools/program/cluster/own_part.h"

#include <gtest/gtest.h>

#include "formats/io/partial_directory.h"
#include "tests/support/in_text.h"
#include "tests/support/partial_writes.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr unsigned tasks = 4;

class CommandsPartAuto : public ::testing::Test {
 protected:
  void SetUp() override {
    const Said said = testing::feedrate(
        {"synth", "mnist", "--images", "1000", "--out", (directory_ / "archives").string()});
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }

  std::vector<std::string> words(const std::string& out, std::vector<std::string> variables,
                                 const std::vector<std::string>& more) const {
    for (const std::string& word : std::vector<std::string>{
             program_under_test(), "convert", "mnist", (directory_ / "archives").string(), "--to",
             "webdataset", "--shards", "8", "--out", (directory_ / out).string()}) {
      variables.push_back(word);
    }
    variables.insert(variables.end(), more.begin(), more.end());
    return variables;
  }

  std::vector<std::string> task(unsigned id, unsigned count = tasks) const {
    return words("out",
                 {"SLURM_ARRAY_TASK_ID=" + std::to_string(id), "SLURM_ARRAY_TASK_MIN=1",
                  "SLURM_ARRAY_TASK_MAX=" + std::to_string(count),
                  "SLURM_ARRAY_TASK_COUNT=" + std::to_string(count)},
                 {"--part", "auto"});
  }

  TempDirectory directory_;
  fs::path out_ = directory_ / "out";
};

TEST_F(CommandsPartAuto, tasks_of_an_array_make_what_one_process_makes) {
  ASSERT_EQ(run_program("env", words("one", {}, {})).code, exit_done);
  std::vector<std::unique_ptr<Started>> running;
  for (unsigned id = 1; id <= tasks; ++id) {
    running.push_back(std::make_unique<Started>("env", task(id)));
  }
  unsigned joined = 0;
  for (const auto& one : running) {
    const Said said = one->finish();
    EXPECT_EQ(said.code, exit_done) << said.errors;
    joined += has(said.output, "out: 1,000 images") ? 1 : 0;
  }
  EXPECT_EQ(joined, 1U);
  EXPECT_EQ(files_of(out_), files_of(directory_ / "one"));
  EXPECT_FALSE(fs::exists(directory_ / "out.part-1-of-4"));

  const Said requeued = run_program("env", task(3));
  EXPECT_EQ(requeued.code, exit_done) << requeued.errors;
  EXPECT_TRUE(has(requeued.output, "out: 1,000 images")) << requeued.output;
  EXPECT_TRUE(has(requeued.output, "whole from an earlier run")) << requeued.output;
}

TEST_F(CommandsPartAuto, a_task_started_again_keeps_its_part_and_joins_if_nobody_else_will) {
  for (unsigned id = 1; id < tasks; ++id) {
    const Said said = run_program("env", task(id));
    ASSERT_EQ(said.code, exit_done) << said.errors;
    EXPECT_TRUE(has(said.errors, "the process that makes the last one joins them")) << said.errors;
  }
  {
    const PartialDirectory joiner(out_);  // which is killed
    ASSERT_EQ(run_program("env", task(tasks)).code, exit_done);
  }
  EXPECT_FALSE(fs::exists(out_));
  const Said again = run_program("env", task(2));
  EXPECT_EQ(again.code, exit_done) << again.errors;
  EXPECT_TRUE(fs::exists(out_));
}

TEST_F(CommandsPartAuto, a_part_by_number_that_is_whole_is_kept_by_resume) {
  ASSERT_EQ(run_program("env", words("out", {}, {"--part", "2/4"})).code, exit_done);
  const fs::path part = directory_ / "out.part-2-of-4";
  const auto made = fs::last_write_time(part);
  const Said again = run_program("env", words("out", {}, {"--part", "2/4"}));
  EXPECT_EQ(again.code, exit_failed);
  EXPECT_TRUE(has(again.errors, "exists already")) << again.errors;
  const Said kept = run_program("env", words("out", {}, {"--part", "2/4", "--resume"}));
  EXPECT_EQ(kept.code, exit_done) << kept.errors;
  EXPECT_TRUE(has(kept.output, "out.part-2-of-4: 250 images")) << kept.output;
  EXPECT_EQ(fs::last_write_time(part), made);
}

TEST_F(CommandsPartAuto, processes_of_torchrun_share_too) {
  for (const std::string rank : {"0", "1"}) {
    const Said said =
        run_program("env", words("out", {"RANK=" + rank, "WORLD_SIZE=2", "MASTER_ADDR=localhost"},
                                 {"--part", "auto"}));
    EXPECT_EQ(said.code, exit_done) << said.errors;
  }
  EXPECT_TRUE(fs::exists(out_));
}

TEST_F(CommandsPartAuto, one_of_several_without_it_is_told) {
  const Said said = run_program("env", words("out", {"RANK=0", "WORLD_SIZE=2"}, {}));
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_TRUE(has(said.errors, "process 1 of 2")) << said.errors;
  EXPECT_TRUE(has(said.errors, "--part auto")) << said.errors;
}

TEST_F(CommandsPartAuto, what_does_not_fit_is_refused) {
  const Said nowhere = run_program("env", words("out", {}, {"--part", "auto"}));
  EXPECT_TRUE(has(nowhere.errors, "finds no number of this process")) << nowhere.errors;
  ASSERT_EQ(run_program("env", task(1)).code, exit_done);
  const Said other = run_program("env", task(2, 8));
  EXPECT_EQ(other.code, exit_failed);
  EXPECT_TRUE(has(other.errors, "out.part-1-of-4: is one of 4 parts, but SLURM_ARRAY_TASK_ID says"))
      << other.errors;
  const PartialDirectory running(directory_ /
                                 "out.part-2-of-4");  // the same array, submitted twice
  const Said second = run_program("env", task(2));
  EXPECT_EQ(second.code, exit_failed);
  EXPECT_TRUE(has(second.errors, "out.part-2-of-4.partial: another process is writing it"))
      << second.errors;
}

}  // namespace
}  // namespace feedrate::tools
