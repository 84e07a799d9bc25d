// FEEDRATE_NCCL_ALONE: a single process sums by NCCL, too.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/emulated_program.h"
#include "tests/support/temp_directory.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

class CommandsNcclAlone : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name :
         {"XDG_CACHE_HOME", "FEEDRATE_NCCL", "FEEDRATE_NCCL_ALONE", "FEEDRATE_EMULATED_NCCL"}) {
      unsetenv(name);
    }
  }
};

TEST_F(CommandsNcclAlone, changes_no_result_and_is_not_skipped) {
  const testing::TempDirectory directory;
  const auto program = testing::program_with_emulated_device(directory.path());
  if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
  const std::string archives = (directory.path() / "archives").string();
  const std::string dataset = (directory.path() / "lmdb").string();
  testing::run_program(*program, {"synth", "mnist", "--images", "20", "--out", archives});
  testing::run_program(*program, {"convert", "mnist", archives, "--to", "lmdb", "--out", dataset});
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  setenv("FEEDRATE_NCCL", (directory.path() / "libfeedrate_cuda.so").c_str(), 1);
  const auto train = [&] {
    return testing::run_program(*program, {"train", dataset, "--network", "lenet", "--device",
                                           "cuda", "--batch", "2", "--steps", "4", "--json"});
  };
  const testing::Said plain = train();
  ASSERT_EQ(plain.code, exit_done) << plain.errors;
  setenv("FEEDRATE_NCCL_ALONE", "1", 1);
  const testing::Said alone = train();
  ASSERT_EQ(alone.code, exit_done) << alone.errors;
  const auto expected = nlohmann::json::parse(plain.output);
  const auto found = nlohmann::json::parse(alone.output);
  EXPECT_EQ(found.at("steps_recorded"), true);
  EXPECT_EQ(found.at("loss"), expected.at("loss"));
  setenv("FEEDRATE_EMULATED_NCCL", "fails", 1);
  setenv("FEEDRATE_NCCL_ALONE", "0", 1);
  EXPECT_EQ(train().code, exit_done) << "0 asks for nothing";
  setenv("FEEDRATE_NCCL_ALONE", "1", 1);
  const testing::Said failed = train();
  EXPECT_EQ(failed.code, exit_failed);
  EXPECT_NE(failed.errors.find("ncclCommInitRank"), std::string::npos) << failed.errors;
}

}  // namespace
}  // namespace feedrate::tools
