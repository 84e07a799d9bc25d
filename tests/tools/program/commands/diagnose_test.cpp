// `feedrate diagnose` around programs that are no trainings: what it passes on, and what it says then.
// tests/python/diagnose_test.py has those that train.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;
namespace fs = std::filesystem;

Said diagnosed(std::vector<std::string> command) {
  command.insert(command.begin(), {"diagnose", "--"});
  return feedrate(command);
}

TEST(CommandsDiagnose, the_command_runs_as_it_is) {
  const Said said =
      diagnosed({"sh", "-c", R"(echo "$#: $*"; echo no >&2; exit 3)", "x", "--", "", "--json"});
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.output, "3: --  --json\n");
  EXPECT_TRUE(said.errors.starts_with("no\n")) << said.errors;
  EXPECT_NE(said.errors.find("No diagnosis: sh started no Python"), std::string::npos);
}

TEST(CommandsDiagnose, python_runs_the_sitecustomize_that_it_would_have_run) {
  const testing::TempDirectory directory;
  std::ofstream(directory / "sitecustomize.py")
      << "import sys\nprint('mine', __name__, len(sys.argv))\n";
  const std::string path = directory.path().string();
  const std::string code =
      "import os, sys, sitecustomize; print(sitecustomize.__file__, sys.path[1]); "
      "print(os.environ['PYTHONPATH'].endswith(':" +
      path + "'))";
  const Said said = diagnosed({"env", "PYTHONPATH=" + path, "python3", "-c", "pass"});
  EXPECT_EQ(said.output, "mine sitecustomize 1\n") << "env keeps the probe out";
  setenv("PYTHONPATH", path.c_str(), 1);
  const Said under = diagnosed({"python3", "-c", code});
  unsetenv("PYTHONPATH");
  EXPECT_EQ(under.output,
            "mine sitecustomize 1\n" + path + "/sitecustomize.py " + path + "\nTrue\n")
      << under.errors;
}

TEST(CommandsDiagnose, without_a_sitecustomize_there_is_none) {
  const Said said = diagnosed({"python3", "-S", "-c", "print(1)"});
  EXPECT_EQ(said.output, "1\n");
  const Said other = diagnosed(
      {"python3", "-c", "import sys; print('feedrate' in str(sys.modules.get('sitecustomize')))"});
  EXPECT_EQ(other.output, "False\n") << other.errors;
  EXPECT_NE(other.errors.find("loaded no data with PyTorch"), std::string::npos) << other.errors;
}

TEST(CommandsDiagnose, says_what_keeps_the_probe_out) {
  const Said said = diagnosed({"python3", "-I", "-c", "print(1)"});
  EXPECT_EQ(said.code, 0);
  EXPECT_NE(said.errors.find("with -I, Python reads no PYTHONPATH"), std::string::npos)
      << said.errors;
}

TEST(CommandsDiagnose, says_what_the_command_did_to_pythonpath) {
  const std::string sleeps = "import time; time.sleep(0.5)";
  const auto said = [](const std::vector<std::string>& command) {
    const std::string errors = diagnosed(command).errors;
    std::string line = errors;
    std::ranges::replace(line, '\n', ' ');
    return line;
  };
  const char* taken = "Python ran without PYTHONPATH, which the command had taken away";
  const char* anew = "write PYTHONPATH=src:$PYTHONPATH.";
  for (const auto& [command, words] : std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"env", "-i", "python3", "-c", sleeps}, taken},
           {{"env", "-u", "PYTHONPATH", "python3", "-c", sleeps}, taken},
           {{"env", "PYTHONPATH=src", "python3", "-c", sleeps}, anew},
           {{"sh", "-c", "PYTHONPATH=src python3 -c '" + sleeps + "'; true"}, anew},
           {{"sh", "-c", "python3 -s -E -c '" + sleeps + "'; true"}, "with -E, Python reads no"},
           {{"python3", "-c",
             "import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', '" + sleeps +
                 "'])"},
            "with -I, Python reads no"},
           {{"python3", "-W", "Ignore", "-c", sleeps}, "loaded no data with PyTorch"}}) {
    EXPECT_NE(said(command).find(words), std::string::npos) << said(command);
  }
}

TEST(CommandsDiagnose, with_json_its_stdout_is_one_object) {
  const Said said = feedrate({"diagnose", "--json", "--", "sh", "-c", "echo out; exit 4"});
  EXPECT_EQ(said.code, 4);
  EXPECT_EQ(said.errors, "out\n");
  const auto json = nlohmann::json::parse(said.output);
  EXPECT_EQ(json.at("exit_code"), 4);
  EXPECT_EQ(json.at("limit"), nullptr);
}

TEST(CommandsDiagnose, a_command_that_is_missing_is_one_error_and_a_shell_s_code) {
  EXPECT_EQ(diagnosed({"/etc/passwd"}).code, 126) << "it may not be run";
  const Said said = diagnosed({"no-such-program"});
  EXPECT_EQ(said.code, 127);
  EXPECT_NE(said.errors.find("no-such-program: cannot start it: No such file"), std::string::npos)
      << said.errors;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"diagnose"},
        {"diagnose", "--"},
        {"diagnose", "x", "--", "y"},
        {"diagnose", "--restart", "5", "--", "true"},
        {"diagnose", "--restart", "50", "--swap", "--", "true"}}) {
    EXPECT_EQ(feedrate(words).code, exit_misused);
  }
}

TEST(CommandsDiagnose, adds_what_it_measured_to_a_file_of_results) {
  const testing::TempDirectory directory;
  const std::string file = (directory / "rows.jsonl").string(),
                    script = (directory / "mine.py").string();
  std::ofstream(script)
      << "import sys, time\n"
         "class Batch:\n    shape = (8, 3)\n"
         "def batches():\n"
         "    for _ in range(60):\n        time.sleep(0.003)\n        yield Batch()\n"
         "for _ in sys.modules['_feedrate_probe'].wrap(batches()):\n"
         "    time.sleep(0.001)\n";
  const std::vector<std::string> words{"diagnose", "--out", file, "--", "python3", script};
  for (int i = 0; i < 3; ++i) {
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, 0) << said.errors;
    EXPECT_NE(said.errors.find("2 rows added to "), std::string::npos) << said.errors;
  }
  const Said said = feedrate({"report", file, "--json"});
  ASSERT_EQ(said.code, 0) << said.errors;
  const auto studies = nlohmann::json::parse(said.output).at("studies");
  ASSERT_EQ(studies.size(), 1U) << "repeats of one measurement";
  EXPECT_EQ(studies.at(0).at("network"), "mine.py");

  const Said none =
      feedrate({"diagnose", "--out", (directory / "none.jsonl").string(), "--", "true"});
  EXPECT_NE(none.errors.find("nothing was measured"), std::string::npos) << none.errors;
  EXPECT_FALSE(fs::exists(directory / "none.jsonl"));
  EXPECT_EQ(feedrate({"diagnose", "--out", script, "--", "true"}).code, exit_failed)
      << "it holds no rows";
}

TEST(CommandsDiagnose, signals_go_to_the_command) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT}) {
    const testing::TempDirectory directory;
    const std::string ready = (directory / "ready").string();
    testing::Started started(testing::program_under_test(),
                             {"diagnose", "--", "sh", "-c",
                              "trap 'exit 7' INT TERM HUP USR1 USR2 QUIT; touch " + ready +
                                  "; while :; do sleep 0.05; done"});
    while (!fs::exists(ready)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    started.send(signal);
    EXPECT_EQ(started.finish().code, 7) << signal;
  }
}

TEST(CommandsDiagnose, it_dies_as_its_command_does) {
  EXPECT_EQ(diagnosed({"sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
  EXPECT_EQ(diagnosed({"sh", "-c", "kill -SEGV $$"}).code, 128 + SIGSEGV);
}

TEST(CommandsDiagnose, leaves_nothing_behind) {
  const testing::TempDirectory directory;
  setenv("TMPDIR", directory.path().c_str(), 1);
  diagnosed({"python3", "-c", "pass"});
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

}  // namespace
}  // namespace feedrate::tools
