// `feedrate train --device cuda` by several processes, of which one ends early while another waits on
// its device for a sum over all. Here the device is emulated.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "formats/base/error.h"
#include "tests/support/emulated_program.h"
#include "tests/support/free_port.h"
#include "tests/support/temp_directory.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
using Words = std::vector<std::string>;

class CommandsLostDeviceRank : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto program = program_with_emulated_device(directory_.path());
    if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
    program_ = *program;
    run({"synth", "mnist", "--images", "40", "--out", at("archives")});
    run({"convert", "mnist", at("archives"), "--to", "png-map", "--split", "train", "--out",
         at("set")});
  }

  void TearDown() override { unsetenv("FEEDRATE_EMULATED_STREAMS"); }

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  void run(const Words& words) const {
    const Said said = run_program(program_, words);
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }

  std::unique_ptr<Started> start(unsigned rank, std::uint16_t port) const {
    return std::make_unique<Started>("env", Words{join("RANK=", rank),
                                                  join("LOCAL_RANK=", rank),
                                                  "WORLD_SIZE=2",
                                                  "MASTER_ADDR=127.0.0.1",
                                                  join("MASTER_PORT=", port),
                                                  "XDG_CACHE_HOME=/dev/null",
                                                  "FEEDRATE_NCCL=" + at("libfeedrate_cuda.so"),
                                                  program_,
                                                  "train",
                                                  at("set"),
                                                  "--network",
                                                  "lenet",
                                                  "--device",
                                                  "cuda",
                                                  "--batch",
                                                  "8",
                                                  "--threads",
                                                  "1",
                                                  "--steps",
                                                  "100000000",
                                                  "--log",
                                                  at("log.jsonl")});
  }

  TempDirectory directory_;
  std::string program_;
};

TEST_F(CommandsLostDeviceRank, that_is_killed_ends_the_other_with_its_name) {
  for (const unsigned killed : {0U, 1U}) {
    std::filesystem::remove(at("log.jsonl"));
    const std::uint16_t port = free_port();
    const std::unique_ptr<Started> both[] = {start(0, port), start(1, port)};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!std::filesystem::exists(at("log.jsonl")) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until both have joined
    both[killed]->send(SIGKILL);
    const Said said = both[1 - killed]->finish();
    EXPECT_EQ(said.code, exit_failed) << said.errors;
    EXPECT_NE(said.errors.find(join("rank ", killed, " of 2 ended early")), std::string::npos)
        << said.errors;
  }
}

TEST_F(CommandsLostDeviceRank, that_stops_for_a_bad_sample_ends_the_other_with_its_name) {
  std::filesystem::path bad;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(at("set"))) {
    if (entry.path().extension() == ".png") bad = entry.path();
  }
  std::ofstream(bad) << "no picture";
  setenv("FEEDRATE_EMULATED_STREAMS", "early", 1);  // it waits for its last step, as the other does
  const std::uint16_t port = free_port();
  const std::unique_ptr<Started> both[] = {start(0, port), start(1, port)};
  const std::string said[] = {both[0]->finish().errors, both[1]->finish().errors};
  const unsigned reader = said[0].find(bad.filename().string()) != std::string::npos ? 0 : 1;
  EXPECT_NE(said[reader].find(bad.filename().string()), std::string::npos) << said[reader];
  EXPECT_NE(said[1 - reader].find(join("rank ", reader, " of 2 ended early")), std::string::npos)
      << said[1 - reader];
}

}  // namespace
}  // namespace feedrate::tools
