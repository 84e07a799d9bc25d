// `feedrate train` by several processes, as mpirun and torchrun start them.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/free_port.h"
#include "tests/support/mpirun.h"
#include "tests/support/sample_images.h"
#include "tests/trainer/rounding.h"
#include "tools/program/cli/command.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
using nlohmann::json;

/// 203 grey images: batches of 32 leave 11, which 2 and 4 ranks cannot share evenly.
class RankedTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    // Digits, not noise: noise has near-ties in max pooling, which any rounding may turn.
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"synth", "mnist", "--images", "203", "--out", at("archives")},
          {"convert", "mnist", at("archives"), "--to", "lmdb", "--split", "train", "--out",
           at("set")}}) {
      const Said said = testing::feedrate(words);
      ASSERT_EQ(said.code, exit_done) << said.errors;
    }
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  std::vector<std::string> training(std::vector<std::string> more) const {
    std::vector<std::string> words = {
        program_under_test(), "train", at("set"), "--network", "lenet", "--batch", "32",
        "--compute-threads",  "1",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  static json result_of(const Said& said) {
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said.code == exit_done ? json::parse(said.output) : json();
  }

  /// Writes a checkpoint beside `file`, of the same training but with every weight moved a little.
  std::string moved(const std::string& file, unsigned number) const {
    const trainer::Graph graph = trainer::network("lenet").build({28, 28, 1}, 10);
    const auto session = trainer::backend("cpu").compile(
        trainer::make_plan(graph, 32), {.threads = 1, .optimizer = &trainer::optimizer("sgd")});
    const trainer::Position position = trainer::load_checkpoint(file, *session);
    Nudge{number}(*session, position.step);
    const std::string result = file + std::to_string(number);
    trainer::save_checkpoint(result, *session, position);
    return result;
  }

  TempDirectory directory_;
};

class CommandsRanks : public RankedTraining {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "no mpirun is installed, or this build found no MPI";
    RankedTraining::SetUp();
  }

  json train(unsigned ranks, const std::vector<std::string>& more) const {
    return result_of(mpirun(ranks, training(more)));
  }
};

TEST_F(CommandsRanks, two_and_four_learn_what_one_learns_from_the_same_batches) {
  // Two epochs of 7 batches, the last of which is short, and a check after each; all but the first
  // step, after which weights can be moved.
  train(1, {"--steps", "1", "--checkpoint", at("one.st")});
  const auto train_from = [&](unsigned ranks, const std::string& checkpoint) {
    return train(ranks,
                 {"--epochs", "2", "--val", at("set"), "--val-every", "1", "--resume", checkpoint});
  };
  for (const unsigned ranks : {2U, 4U}) {
    const json together = train_from(ranks, at("one.st"));
    EXPECT_EQ(together.at("ranks"), ranks);
    EXPECT_EQ(together.at("steps"), 13);
    EXPECT_EQ(together.at("images"), 406 - 32);
    expect_but_for_rounding([&](const Nudge& nudge) {
      const json alone =
          train_from(1, nudge.number == 0 ? at("one.st") : moved(at("one.st"), nudge.number));
      EXPECT_EQ(alone.at("ranks"), 1);
      EXPECT_EQ(alone.at("steps"), 13);
      const std::string where = join(ranks, " ranks");
      Course shown = {{"loss", where, alone.at("loss"), together.at("loss")}};
      for (std::size_t i = 0; i < 2; ++i) {
        shown.push_back({"validation", where, alone.at("validations")[i].at("loss"),
                         together.at("validations")[i].at("loss")});
      }
      return shown;
    });
  }
}

TEST_F(CommandsRanks, a_step_s_wait_is_the_stall_s_share_of_a_step_of_all_ranks) {
  const json together = train(2, {"--steps", "6", "--threads", "0"});
  const double step_ms = 1e3 * 32 / together.at("images_per_second").get<double>();
  const double expected = together.at("stall_percent").get<double>() / 100 * step_ms;
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(together.at("wait_ms_per_step").get<double>(), expected, 0.05 * expected);
}

TEST_F(CommandsRanks, what_some_have_saved_others_go_on_with) {
  train(2, {"--steps", "4", "--checkpoint", at("four.st")});
  const json resumed = train(4, {"--steps", "8", "--resume", at("four.st")});
  const json straight = train(1, {"--steps", "8"});
  const double all = straight.at("loss");  // of eight steps; the other is of the last four
  EXPECT_EQ(resumed.at("steps"), 4);
  EXPECT_LT(resumed.at("loss"), all);
  expect_but_for_rounding([&](const Nudge& nudge) {
    const std::string from = nudge.number == 0 ? at("four.st") : moved(at("four.st"), nudge.number);
    const json again = train(1, {"--steps", "8", "--resume", from});
    return Course{{"loss", "step 8", again.at("loss"), resumed.at("loss")}};
  });
}

// Of 33 images in batches of 32, two ranks drop the last one, which one rank takes for a batch.
TEST_F(CommandsRanks, a_sound_checkpoint_of_other_ranks_is_refused_where_epochs_have_other_steps) {
  write_dataset(container("lmdb"), raw_codec, directory_ / "odd", make_examples({28, 28, 1}, 33));
  const auto of_odd = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = training(more);
    words[2] = at("odd");
    return words;
  };
  result_of(mpirun(2, of_odd({"--epochs", "2", "--checkpoint", at("two.st")})));
  result_of(mpirun(1, of_odd({"--epochs", "1", "--checkpoint", at("one.st")})));
  const Said alone = mpirun(1, of_odd({"--epochs", "9", "--resume", at("two.st")}));
  EXPECT_EQ(alone.code, exit_failed);
  EXPECT_NE(alone.errors.find("two.st: was trained in epochs of 1 step, not of 2: the ranks then "
                              "dropped the last 1 image of each; give as many --batch images to "
                              "as many ranks"),
            std::string::npos)
      << alone.errors;
  const Said together = mpirun(2, of_odd({"--epochs", "9", "--resume", at("one.st")}));
  EXPECT_NE(together.errors.find("one.st: was trained in epochs of 2 steps, not of 1: the ranks "
                                 "then shared the last 1 image of each"),
            std::string::npos)
      << together.errors;
}

TEST_F(CommandsRanks, a_rank_that_is_killed_ends_the_others_within_seconds) {
  const std::vector<std::string> endless = training({"--steps", "100000000"});
  std::vector<std::string> words = ranks_of(1, endless);
  words.insert(words.end(),
               {":", "-n", "1", "sh", "-c", "(sleep 1; kill -9 $$) & exec \"$0\" \"$@\""});
  words.insert(words.end(), endless.begin(), endless.end());
  const auto start = std::chrono::steady_clock::now();
  const Said said = run_program("mpirun", words);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_NE(said.code, exit_done);
  EXPECT_NE(said.errors.find("signal 9"), std::string::npos) << said.errors;
  EXPECT_LT(took.count(), 60);  // it would train for a day
}

TEST_F(CommandsRanks, what_ranks_cannot_agree_on_is_refused) {
  const Said uneven = mpirun(3, training({"--steps", "1"}));
  EXPECT_NE(uneven.errors.find("32 images cannot be shared by 3 ranks"), std::string::npos)
      << uneven.errors;
  const Said timed = mpirun(2, training({"--seconds", "1"}));
  EXPECT_NE(timed.errors.find("--steps or --epochs"), std::string::npos) << timed.errors;
  write_dataset(container("lmdb"), raw_codec, directory_ / "one", make_examples({28, 28, 1}, 1));
  const Said starved = mpirun(2, training({"--epochs", "1", "--val", at("one")}));
  EXPECT_NE(starved.errors.find("one: holds 1 image, fewer than the 2 ranks"), std::string::npos)
      << starved.errors;
  const Said forward = mpirun(2, training({"--mode", "infer"}));
  EXPECT_NE(forward.errors.find("runs in one process"), std::string::npos) << forward.errors;
}

// As under a launcher of another MPI than the plug-in's, whose environment it does not read.
TEST_F(CommandsRanks, a_rank_whom_mpi_sees_alone_does_not_train_by_itself) {
  std::vector<std::string> words = training({"--steps", "1"});
  words.insert(words.begin(), "PMI_SIZE=2");
  const Said said = run_program("env", words);
  EXPECT_EQ(said.code, exit_failed) << said.output;
  EXPECT_NE(said.errors.find("sees it alone"), std::string::npos) << said.errors;
}

class CommandsTorchrun : public RankedTraining {
 protected:
  /// Starts one rank; `port` is that of rank 0.
  std::unique_ptr<Started> start(unsigned rank, unsigned ranks, std::uint16_t port,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> words = training(more);
    words.insert(words.begin(),
                 {join("RANK=", rank), join("LOCAL_RANK=", rank), join("WORLD_SIZE=", ranks),
                  "MASTER_ADDR=127.0.0.1", join("MASTER_PORT=", port)});
    return std::make_unique<Started>("env", words);
  }

  json train(unsigned ranks, const std::vector<std::string>& more) const {
    const std::uint16_t port = free_port();
    std::vector<std::unique_ptr<Started>> running;
    for (unsigned rank = 0; rank < ranks; ++rank) running.push_back(start(rank, ranks, port, more));
    for (unsigned rank = 1; rank < ranks; ++rank) {
      const Said said = running[rank]->finish();
      EXPECT_EQ(said.code, exit_done) << said.errors;
      EXPECT_EQ(said.output, "") << "rank 0 tells";
    }
    return result_of(running[0]->finish());
  }
};

TEST_F(CommandsTorchrun, two_and_four_learn_what_one_learns_from_the_same_batches) {
  train(1, {"--steps", "1", "--checkpoint", at("one.st")});
  for (const unsigned ranks : {2U, 4U}) {
    const json together = train(ranks, {"--steps", "8", "--resume", at("one.st")});
    EXPECT_EQ(together.at("ranks"), ranks);
    EXPECT_EQ(together.at("steps"), 7);
    expect_but_for_rounding([&](const Nudge& nudge) {
      const std::string from = nudge.number == 0 ? at("one.st") : moved(at("one.st"), nudge.number);
      const json alone = train(1, {"--steps", "8", "--resume", from});
      return Course{{"loss", join(ranks, " ranks"), alone.at("loss"), together.at("loss")}};
    });
  }
}

TEST_F(CommandsTorchrun, ranks_that_would_learn_differently_do_not_begin) {
  train(1, {"--steps", "2", "--checkpoint", at("two.st")});
  const std::vector<std::tuple<std::vector<std::string>, std::string, std::string>> cases = {
      {{"--epochs", "3"}, "--epochs", "rank 1 has 3, rank 0 has 1"},
      {{"--epochs", "1", "--seed", "7"}, "--seed", "rank 1 has 7, rank 0 has 1"},
      {{"--epochs", "1", "--lr", "0.5"}, "--lr", "rank 1 has 0.5, rank 0 has 0.01"},
      {{"--epochs", "1", "--optimizer", "adam"}, "--optimizer", "rank 1 has adam"},
      {{"--epochs", "1", "--val", at("set")}, "--val", "rank 0 has none"},
      {{"--epochs", "1", "--resume", at("two.st")},
       "the first step",
       "rank 1 has 2, rank 0 has 0"}};
  for (const auto& [words, name, values] : cases) {
    const std::uint16_t port = free_port();
    const auto first = start(0, 2, port, {"--epochs", "1"}), other = start(1, 2, port, words);
    const Said said = other->finish();
    EXPECT_EQ(said.code, exit_failed) << name;
    EXPECT_NE(said.errors.find(join("ranks must agree on ", name, ": ")), std::string::npos)
        << said.errors;
    EXPECT_NE(said.errors.find(values), std::string::npos) << said.errors;
    EXPECT_EQ(first->finish().code, exit_failed) << name;
  }
}

TEST_F(CommandsTorchrun, a_signal_to_one_rank_interrupts_all) {
  for (const unsigned stopped : {0U, 1U}) {
    const std::string log = at(join("log", stopped)), saved = at(join("saved", stopped));
    const std::uint16_t port = free_port();
    std::vector<std::unique_ptr<Started>> running;
    for (unsigned rank = 0; rank < 2; ++rank) {
      running.push_back(
          start(rank, 2, port, {"--steps", "100000000", "--checkpoint", saved, "--log", log}));
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!std::filesystem::exists(log) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until all have joined
    running[stopped]->send(SIGTERM);
    const Said first = running[0]->finish(), second = running[1]->finish();
    EXPECT_NE(first.code, exit_done) << first.errors;
    EXPECT_EQ(first.code, second.code);
    EXPECT_NE(first.errors.find("interrupted after step"), std::string::npos) << first.errors;
    EXPECT_TRUE(std::filesystem::exists(saved));
  }
}

TEST_F(CommandsTorchrun, a_rank_that_is_killed_ends_the_others_with_its_name) {
  const std::uint16_t port = free_port();
  std::vector<std::unique_ptr<Started>> running;
  for (unsigned rank = 0; rank < 4; ++rank)
    running.push_back(start(rank, 4, port, {"--steps", "100000000", "--log", at("log.jsonl")}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!std::filesystem::exists(at("log.jsonl")) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until all have joined
  running[2]->send(SIGKILL);
  for (const unsigned rank : {0U, 1U, 3U}) {
    const Said said = running[rank]->finish();
    EXPECT_EQ(said.code, exit_failed);
    EXPECT_NE(said.errors.find("rank 2 of 4 ended early"), std::string::npos) << said.errors;
  }
}

TEST(HostileRanks, one_that_is_not_told_where_the_others_are_says_so) {
  const Said said =
      run_program("env", {"-u", "MASTER_ADDR", "RANK=1", "WORLD_SIZE=4", program_under_test(),
                          "train", "absent", "--network", "lenet"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("process 1 of 4"), std::string::npos) << said.errors;
  EXPECT_NE(said.errors.find("set MASTER_ADDR"), std::string::npos) << said.errors;
}

// sbatch --ntasks=4 sets both for its script, which is one process.
TEST(HostileRanks, a_batch_script_of_slurm_is_not_one_of_several) {
  const Said said = run_program("env", {"SLURM_NTASKS=4", "SLURM_PROCID=0", program_under_test(),
                                        "train", "absent", "--network", "lenet"});
  EXPECT_EQ(said.errors.find("one of several"), std::string::npos) << said.errors;
  EXPECT_NE(said.errors.find("absent"), std::string::npos) << said.errors;
}

// The program, beside a plug-in that cannot be loaded.
TEST(HostileRanks, one_of_several_without_mpi_says_so) {
  const TempDirectory directory;
  const std::string alone = (directory / "feedrate").string();
  std::filesystem::copy_file(program_under_test(), alone);
  std::ofstream(directory / "libfeedrate_mpi.so") << "no library";
  const Said said = run_program(
      "env", {"OMPI_COMM_WORLD_SIZE=2", alone, "train", "absent", "--network", "lenet"});
  EXPECT_EQ(said.code, exit_failed);
  for (const char* part : {"one of several processes", "libfeedrate_mpi.so", "libopenmpi-dev",
                           "tools/install-deps.sh mpi", "torchrun"}) {
    EXPECT_NE(said.errors.find(part), std::string::npos) << part << ": " << said.errors;
  }
  const Said one = run_program(
      "env", {"OMPI_COMM_WORLD_SIZE=1", alone, "train", "absent", "--network", "lenet"});
  EXPECT_NE(one.errors.find("absent"), std::string::npos) << one.errors;
}

}  // namespace
}  // namespace feedrate::tools
