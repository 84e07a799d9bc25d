// Other frameworks in a bench, with fake adapters: shell scripts run by `sh`.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/in_text.h"
#include "tests/support/run_program.h"
#include "tools/lab/bench/peer.h"
#include "tools/lab/bench/process.h"
#include "tools/lab/measure/row.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::json;
using testing::Said;
using testing::slurp;
using testing::TempDirectory;

constexpr const char* able = R"(if [ "$1" = --check ]; then
  echo '{"tool_version": "9.8", "python_version": "3.7", "formats": ["lmdb"],
         "recipes": ["none"], "least_threads": 1}'
  exit 0
fi
)";

/// Sets FEEDRATE_PEERS and FEEDRATE_PYTHON for the processes that a test starts.
class CommandsBenchPeer : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::feedrate({"synth", "mnist", "--images", "300", "--out", at("archives")});
    testing::feedrate({"convert", "mnist", at("archives"), "--to", "lmdb", "--split", "train",
                       "--out", at("lmdb")});
    write_text(at("python"), "#!/bin/sh\nshift\nexec sh \"$@\"\n");  // without Python's -B
    std::filesystem::permissions(at("python"), std::filesystem::perms::owner_all);
    setenv("FEEDRATE_PEERS", at("").c_str(), 1);
    setenv("FEEDRATE_PYTHON", at("python").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("FEEDRATE_PEERS");
    unsetenv("FEEDRATE_PYTHON");
  }

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  void adapter(const std::string& tool, const std::string& script) const {
    write_text(at(tool + ".py"), script);
  }

  Said bench(std::vector<std::string> more) const {
    more.insert(more.begin(), {"bench", "--beside-others", "--repeat", "1", "--seconds", "0.05",
                               "--out", at("r.jsonl"), at("lmdb")});
    return testing::feedrate(more);
  }

  std::vector<json> rows() const {
    std::vector<json> found;
    std::istringstream lines(slurp(at("r.jsonl")));
    for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line));
    return found;
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsBenchPeer, an_adapters_rows_are_added_under_its_name) {
  adapter("pytorch", std::string(able) + "echo \"$@\" >> " + at("asked") + "\n" +
                         "case \"$*\" in *--graph*) cat > " + at("graph") + ";; esac\n" +
                         R"(echo '{"images_per_second": 1234, "images": 100, "workers_seen": 1,
                                  "stall_percent": 25, "wait_ms_per_step": 2,
                                  "cpu_seconds_per_image": 0.001}')");
  const Said said = bench({"--tool", "feedrate,pytorch", "--network", "lenet", "--threads", "1"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  const auto measured = rows();
  ASSERT_EQ(measured.size(), 6U);
  std::size_t theirs = 0;
  for (const json& row : measured) {
    if (row.at("tool") != "pytorch") continue;
    ++theirs;
    EXPECT_EQ(row.at("images_per_second"), 1234);
    EXPECT_EQ(row.at("cpu_us"), 1000);
    EXPECT_EQ(row.at("stall_percent").is_null(), row.at("kind") != delivered_kind);
    EXPECT_TRUE(row.at("predicted").is_null());
    EXPECT_EQ(row.at("environment").at("libraries"), "pytorch 9.8, Python 3.7");
    EXPECT_EQ(row.at("digest"), measured.front().at("digest"));
  }
  EXPECT_EQ(theirs, 3U);
  testing::expect_part(said.errors, "pytorch: delivered to lenet on cpu, fp32, from lmdb × raw");
  testing::expect_part(slurp(at("asked")), "--format lmdb --recipe none --batch 64 --seconds 0.05");
  testing::expect_part(
      slurp(at("asked")),
      "--graph /dev/stdin --device cpu --precision fp32 -- delivered " + at("lmdb"));
  const json graph = json::parse(slurp(at("graph")));
  EXPECT_EQ(graph.at("network"), "lenet");
  EXPECT_EQ(graph.at("parameter_count"), 431080);
}

TEST_F(CommandsBenchPeer, a_missing_framework_is_left_out_with_a_reason) {
  adapter("mxnet", "echo \"No module named 'mxnet'\" >&2; exit 3\n");
  const Said said = bench({"--tool", "feedrate,mxnet", "--threads", "1,2"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  testing::expect_part(said.errors,
                       "mxnet is not available: No module named 'mxnet'; 2 points left out");
  EXPECT_EQ(rows().size(), 2U);

  setenv("FEEDRATE_PYTHON", at("absent").c_str(), 1);
  std::filesystem::remove(at("r.jsonl"));
  const Said without = bench({"--tool", "mxnet", "--threads", "1"});
  EXPECT_EQ(without.code, exit_failed) << without.errors;
  testing::expect_part(without.errors, "nothing can be measured: mxnet is not available: ");
  testing::expect_part(without.errors, "absent: cannot start");
  EXPECT_FALSE(std::filesystem::exists(at("r.jsonl")));
  const Said planned = bench({"--tool", "mxnet", "--threads", "1", "--dry-run"});
  EXPECT_EQ(planned.code, exit_failed) << planned.output;
}

TEST_F(CommandsBenchPeer, what_an_adapter_cannot_do_is_left_out_with_a_reason) {
  adapter("pytorch", std::string(able) + "echo '{\"images_per_second\": 5}'\n");
  const Said said = bench({"--tool", "pytorch", "--threads", "0,1", "--recipe", "none,mnist"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  testing::expect_part(said.errors,
                       "the adapter of pytorch knows no recipe mnist; 2 points left out");
  testing::expect_part(said.errors, "needs at least 1 loader thread; 1 point left out");
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(CommandsBenchPeer, a_way_to_run_it_is_a_word_for_the_adapter) {
  std::string knows(able);
  knows.insert(knows.find("\"least_threads\""), R"("ways": {"cpu": ["compile"]}, )");
  adapter("pytorch", knows + "echo \"$@\" >> " + at("asked") +
                         "\ncat > /dev/null\necho '{\"images_per_second\": 5}'\n");
  const Said said = bench({"--tool", "pytorch,pytorch:compile,pytorch:cuda-graph", "--threads", "1",
                           "--network", "lenet"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  testing::expect_part(said.errors, "pytorch:compile loads as pytorch does; 1 point left out");
  testing::expect_part(said.errors, "knows no cuda-graph on cpu; 2 points left out");
  testing::expect_part(slurp(at("asked")), "--precision fp32 --compile -- demand");
  EXPECT_EQ(rows().size(), 5U);
}

TEST_F(CommandsBenchPeer, an_adapter_tells_on_which_devices_and_in_which_precisions_it_trains) {
  std::string knows(able);
  knows.insert(knows.find("\"least_threads\""),
               R"("trains": {"cpu": ["fp32", "bf16"]}, "kinds": ["compute"], )");
  adapter("pytorch", knows + "cat > /dev/null\necho '{\"images_per_second\": 5}'\n");
  const Said said = bench({"--tool", "pytorch", "--threads", "1", "--network", "lenet",
                           "--precision", "fp32,bf16,fp16"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  testing::expect_part(said.errors, "does not train in fp16 on cpu; 2 points left out");
  EXPECT_EQ(rows().size(), 5U);
}

TEST_F(CommandsBenchPeer, a_crash_names_the_adapter_and_its_last_words) {
  adapter("pytorch",
          std::string(able) +
              "printf 'Traceback (most):\\n  here\\nValueError: too odd\\n' >&2; exit 1");
  const Said said = bench({"--tool", "pytorch", "--threads", "1"});
  EXPECT_EQ(said.code, exit_failed);
  testing::expect_part(said.errors, "pytorch.py: pytorch: supply of lmdb × raw");
  testing::expect_part(said.errors, ": ValueError: too odd");
  adapter("pytorch", std::string(able) + "echo fine");
  testing::expect_part(bench({"--tool", "pytorch", "--threads", "1", "--resume"}).errors,
                       "pytorch.py: expected a JSON object, found: fine");
  adapter("pytorch", "echo broken >&2; exit 1");
  testing::expect_part(bench({"--tool", "pytorch", "--threads", "1", "--resume"}).errors,
                       "--check failed: broken");
}

TEST_F(CommandsBenchPeer, an_unknown_tool_is_refused_by_options_and_by_plans) {
  testing::expect_part(bench({"--tool", "pytorsh"}).errors, "did you mean pytorch?");
  write_text(at("plan.json"), json({{"datasets", at("lmdb")}, {"tools", {"pytorsh"}}}).dump());
  const Said said = testing::feedrate({"bench", "--plan", at("plan.json"), "--dry-run"});
  testing::expect_part(said.errors, "did you mean pytorch?");
}

TEST(UnitBenchProcess, gets_its_input_and_returns_both_outputs_and_its_code) {
  const Finished finished = run_program("sh", {"-c", "cat; echo oops >&2; exit 7"}, "words");
  EXPECT_EQ(finished.output, "words");
  EXPECT_EQ(finished.errors, "oops");
  EXPECT_EQ(finished.code, 7);
  testing::expect_error([] { run_program("sh", {"-c", "kill -9 $$"}); }, {"signal 9"});
  testing::expect_error([] { run_program("/absent", {}); }, {"/absent", "cannot start"});
}

TEST(UnitBenchPeer, every_framework_has_an_adapter) {
  for (const std::string_view tool : bench_tools()) {
    if (tool == own_tool) continue;
    const auto file = testing::source_directory() / "tools/lab/peers" /
                      join(tool.substr(0, tool.find(':')), ".py");
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
  }
}

}  // namespace
}  // namespace feedrate::tools
