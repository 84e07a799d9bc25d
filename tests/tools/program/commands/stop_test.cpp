// Ctrl-C and SIGTERM, as a user or a scheduler sends them.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Polls until `condition` holds; false after a minute.
bool wait_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// Of the threads of a process, how many take `signal`.
int takers(pid_t process, int signal) {
  int count = 0;
  for (const auto& task : fs::directory_iterator(join("/proc/", process, "/task"))) {
    const std::string status = slurp(task.path() / "status");
    const std::size_t mask = status.find("SigBlk:");
    if (mask == std::string::npos) continue;  // it has ended
    const auto blocked = std::stoull(status.substr(mask + 7, 17), nullptr, 16);
    if ((blocked >> (signal - 1) & 1) == 0) ++count;
  }
  return count;
}

/// 600 grey images in an LMDB, and commands that would run for an hour.
class CommandsStop : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("lmdb"), raw_codec, directory_ / "set",
                  make_examples({28, 28, 1}, 600));
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }
  bool logged(std::string_view event) const {
    return slurp(directory_ / "log").find(event) != std::string::npos;
  }

 protected:
  TempDirectory directory_;
};

TEST_F(CommandsStop, load_prints_what_it_has_and_dies_of_the_signal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    fs::remove(at("log"));
    Started load(program_under_test(), {"load", at("set"), "--seconds", "3600", "--json", "--log",
                                        at("log"), "--metrics", at("load.prom")});
    ASSERT_TRUE(wait_until([&] { return logged("\"progress\""); }));
    load.send(signal);
    const Said said = load.finish();
    EXPECT_EQ(said.signal, signal) << said.errors;
    const ordered_json loaded = ordered_json::parse(said.output);
    EXPECT_EQ(loaded.at("complete"), false);
    EXPECT_GT(loaded.at("images"), 0);
    EXPECT_TRUE(loaded.at("digest").is_null());
    EXPECT_TRUE(logged("aborted"));
    EXPECT_NE(slurp(at("load.prom")).find("feedrate_load_running{"), std::string::npos);
    EXPECT_NE(slurp(at("load.prom")).find("} 0\n"), std::string::npos);
  }
}

TEST_F(CommandsStop, one_thread_takes_signals) {
  const std::vector<std::vector<std::string>> commands = {
      {"train", at("set"), "--network", "lenet", "--epochs", "100000", "--log", at("log")},
      {"load", at("set"), "--seconds", "3600", "--log", at("log")}};
  for (const std::vector<std::string>& command : commands) {
    fs::remove(at("log"));
    Started run(program_under_test(), command);
    ASSERT_TRUE(wait_until([&] { return logged("epoch_") || logged("\"progress\""); }));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      EXPECT_EQ(takers(run.process(), signal), 1) << command[0];
    }
  }
}

TEST_F(CommandsStop, training_leaves_a_whole_checkpoint_whenever_it_is_stopped) {
  const int rounds = std::getenv("FEEDRATE_LONG_TESTS") == nullptr ? 20 : 1000;
  std::mt19937 random(1);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random()) % bound; };
  for (int round = 0; round < rounds; ++round) {
    fs::remove(at("log"));
    fs::remove(at("checkpoint"));
    Started train(program_under_test(),
                  {"train", at("set"), "--network", "lenet", "--val", at("set"), "--val-every", "1",
                   "--epochs", "100000", "--checkpoint", at("checkpoint"), "--log", at("log")});
    ASSERT_TRUE(wait_until([&] { return logged("epoch_start"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(below(300)));
    const int signal = std::array{SIGINT, SIGTERM, SIGHUP}[below(3)];
    train.send(signal);
    const Said said = train.finish();
    EXPECT_EQ(said.signal, signal) << "round " << round << ": " << said.errors;
    const Said resumed = feedrate({"train", at("set"), "--network", "lenet", "--mode", "infer",
                                   "--steps", "1", "--resume", at("checkpoint")});
    EXPECT_EQ(resumed.code, 0) << "round " << round << ": " << resumed.errors;
  }
}

TEST_F(CommandsStop, a_wait_for_the_other_end_of_a_pipe_ends) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  const std::vector<std::vector<std::string>> commands = {
      {"convert", "mnist", at("pipe"), "--to", "lmdb", "--out", at("out")},
      {"load", at("set"), "--log", at("pipe")},
      {"train", at("set"), "--network", "lenet", "--checkpoint", at("pipe")},
      {"inspect", at("set"), "--sheet", at("pipe")}};
  for (const std::vector<std::string>& command : commands) {
    Started waiting(program_under_test(), command);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    waiting.send(SIGTERM);
    EXPECT_EQ(waiting.finish().signal, SIGTERM) << command[0];
  }
}

// It would be waited for for 15 seconds (TLS) and 20 (an answer), three times.
TEST_F(CommandsStop, a_wait_for_a_server_ends) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // which is silent
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(server, generic, size) + listen(server, 64), 0);
  ASSERT_EQ(getsockname(server, generic, &size), 0);
  for (const char* const scheme : {"http", "https"}) {
    const std::string url = join(scheme, "://127.0.0.1:", ntohs(address.sin_port), "/set/");
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"load", url}, {"convert", "dataset", url, "--to", "recordio", "--out", at("out")}}) {
      Started waiting(program_under_test(), command);
      std::this_thread::sleep_for(std::chrono::milliseconds(1000));
      const auto begin = std::chrono::steady_clock::now();
      waiting.send(SIGTERM);
      EXPECT_EQ(waiting.finish().signal, SIGTERM) << command[0];
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << url;
      EXPECT_FALSE(fs::exists(at("out")));
    }
  }
  close(server);
}

TEST_F(CommandsStop, a_file_larger_than_allowed_is_an_error_that_names_it) {
  const Said said =
      run_program("sh", {"-c", "ulimit -f 8; exec \"$0\" \"$@\"", program_under_test(), "convert",
                         "dataset", at("set"), "--to", "recordio", "--out", at("large")});
  EXPECT_EQ(said.code, 1) << said.signal;
  EXPECT_NE(said.errors.find("too large"), std::string::npos) << said.errors;
}

TEST_F(CommandsStop, an_emulated_trainer_computes_no_longer_than_the_run) {
  // A batch would take a minute and more.
  Started load(program_under_test(),
               {"load", at("set"), "--emulate", "1", "--json", "--log", at("log")});
  ASSERT_TRUE(wait_until([&] { return logged("\"progress\""); }));
  load.send(SIGTERM);
  const Said said = load.finish();
  const ordered_json loaded = ordered_json::parse(said.output);
  EXPECT_FALSE(loaded.at("complete"));
  EXPECT_LE(loaded.at("accelerator_utilisation"), 1.0);
  EXPECT_GT(loaded.at("accelerator_utilisation"), 0.0);
}

TEST_F(CommandsStop, advise_removes_its_scratch_directories) {
  write_dataset(container("lmdb"), png_codec, directory_ / "encoded",
                make_examples({28, 28, 1}, 600));
  const std::string scratch = at("scratch");
  fs::create_directory(scratch);
  Started advise("env", {"TMPDIR=" + scratch, program_under_test(), "advise", at("encoded"),
                         "--target", "1000", "--seconds", "3600"});
  ASSERT_TRUE(wait_until([&] { return !fs::is_empty(scratch); }));
  advise.send(SIGINT);
  const Said said = advise.finish();
  EXPECT_EQ(said.signal, SIGINT) << said.errors;
  EXPECT_TRUE(fs::is_empty(scratch));
}

TEST_F(CommandsStop, an_emulated_trainer_is_woken_from_a_step) {
  Started load(program_under_test(), {"load", at("set"), "--emulate", "0.001", "--log", at("log")});
  ASSERT_TRUE(wait_until([&] { return logged("\"progress\""); }));
  load.send(SIGINT);
  const Said said = load.finish();
  EXPECT_EQ(said.signal, SIGINT);
  EXPECT_NE(said.output.find("  interrupted\n"), std::string::npos) << said.output;
}

TEST_F(CommandsStop, of_a_conversion_all_splits_go_on_where_they_were) {
  const Said made = feedrate({"synth", "mnist", "--images", "600", "--out", at("archives")});
  ASSERT_EQ(made.code, 0) << made.errors;
  const std::vector<std::string> convert = {"convert", "mnist",   at("archives"), "--to",
                                            "lmdb",    "--split", "all",          "--out",
                                            at("out"), "--json"};
  const ordered_json whole = ordered_json::parse(feedrate(convert).output);
  fs::remove_all(at("out/test"));  // as if it had been stopped between the two
  std::vector<std::string> resume = convert;
  resume.emplace_back("--resume");
  const Said said = feedrate(resume);
  ASSERT_EQ(said.code, 0) << said.errors;
  const ordered_json resumed = ordered_json::parse(said.output);
  for (const int split : {0, 1}) {
    EXPECT_EQ(resumed["splits"][split]["digest"], whole["splits"][split]["digest"]);
    EXPECT_EQ(resumed["splits"][split]["samples"], whole["splits"][split]["samples"]);
  }
  EXPECT_TRUE(resumed["splits"][0]["seconds"].is_null());
  EXPECT_FALSE(resumed["splits"][1]["seconds"].is_null());

  // What lies there must be what would be made.
  fs::remove_all(at("out/test"));
  resume.insert(resume.end(), {"--encode", "png"});
  const Said refused = feedrate(resume);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("exists already and has"), std::string::npos) << refused.errors;
}

}  // namespace
}  // namespace feedrate::tools
