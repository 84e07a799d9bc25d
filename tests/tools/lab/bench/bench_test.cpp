// `feedrate bench` with the real binary, on small made images. The rates mean nothing here.

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "formats/dataset.h"
#include "formats/io/file.h"
#include "formats/io/page_cache.h"
#include "tests/support/expect_error.h"
#include "tests/support/in_text.h"
#include "tests/support/run_program.h"
#include "tools/lab/bench/machine_lock.h"
#include "tools/lab/measure/row.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::Said;
using testing::slurp;
using testing::TempDirectory;

/// 600 + 100 images as LMDB and as RecordIO.
class CommandsBench : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"synth", "mnist", "--images", "600", "--out", at("archives")});
    for (const char* format : {"lmdb", "recordio"}) {
      run({"convert", "mnist", at("archives"), "--to", format, "--split", "all", "--out",
           at(format)});
    }
  }

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  /// Its stdout, or its stderr when it fails.
  std::string run(const std::vector<std::string>& arguments, int code = exit_done) const {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, code) << arguments.front() << ": " << said.errors << said.output;
    return code == exit_done ? said.output : said.errors;
  }

  /// Without the machine's lock, since tests run side by side and their rates do not matter.
  std::vector<std::string> bench(std::vector<std::string> more) const {
    more.insert(more.begin(), {"bench", "--beside-others"});
    return more;
  }

  /// The rows of r.jsonl, all of which must be complete.
  auto rows() const {
    std::vector<ordered_json> found;
    std::istringstream lines(slurp(at("r.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(to_json_line(parse_row(line, "r.jsonl", found.size() + 1)) == line) << line;
      found.push_back(ordered_json::parse(line));
    }
    return found;
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsBench, reads_a_dataset_into_memory_before_it_calls_rates_warm) {
  run({"convert", "mnist", at("archives"), "--to", "png-map", "--split", "train", "--out",
       at("images")});
  const auto files = sample_files(*open_dataset(at("images")));
  evict_from_page_cache(files);
  if (in_memory(files).share() == 1) GTEST_SKIP() << "a file system in memory";
  const auto once = bench({at("images"), "--threads", "1", "--repeat", "1", "--seconds", "0.05"});
  const Said first = feedrate(once), second = feedrate(once);
  EXPECT_EQ(first.code, exit_done) << first.errors;
  EXPECT_TRUE(testing::has(first.errors, "images into memory: 0 % of its ")) << first.errors;
  EXPECT_EQ(in_memory(files).share(), 1.0);
  EXPECT_FALSE(testing::has(second.errors, "into memory")) << second.errors;
}

TEST_F(CommandsBench, feeds_devices_that_are_not_here) {
  run(bench({at("lmdb/train"), "--network", "mlp", "--emulate", "2000", "--threads", "1",
             "--repeat", "1", "--seconds", "0.3", "--out", at("r.jsonl")}));
  const auto measured = rows();
  ASSERT_EQ(measured.size(), 3U);  // supply, demand, delivered
  for (const ordered_json& row : measured) {
    if (row.at("kind") == "supply") continue;
    EXPECT_EQ(row.at("device"), "emulated 2,000/s");
    EXPECT_EQ(row.at("emulates"), "2000.0 images/s, as asked");
    EXPECT_LE(row.at("images_per_second"), 2100);
    EXPECT_EQ(row.at("stall_percent").is_number(), row.at("kind") == "delivered");
  }
  const auto refused =
      run(bench({at("lmdb/train"), "--network", "mlp", "--emulate", "h10"}), exit_misused);
  EXPECT_NE(refused.find("did you mean h100?"), std::string::npos) << refused;
}

TEST_F(CommandsBench, measures_every_point_once_and_report_answers) {
  const auto measure =
      bench({at("lmdb/train"), at("recordio/train"), "--network", "mlp", "--threads", "0,1",
             "--repeat", "2", "--seconds", "0.05", "--out", at("r.jsonl")});
  run(measure);
  const auto measured = rows();
  EXPECT_EQ(measured.size(), 9U);  // supply 2 × 2, demand 1, delivered 2 × 2
  for (const ordered_json& row : measured) {
    EXPECT_EQ(row.at("repeats").size(), 2U);
    EXPECT_GT(row.at("images_per_second"), 0);
    EXPECT_GT(row.at("cpu_us"), 0);
    EXPECT_EQ(row.at("decode_us").is_null(), row.at("kind") == demand_kind);
    EXPECT_EQ(row.at("predicted").is_null(), row.at("kind") != delivered_kind);
    EXPECT_EQ(row.at("wait_ms").is_null(), row.at("kind") != delivered_kind);
  }

  run(measure, exit_failed);  // refuses a file with rows without --resume
  auto resumed = measure;
  resumed.emplace_back("--resume");
  const std::string before = slurp(at("r.jsonl"));
  run(resumed);
  EXPECT_EQ(slurp(at("r.jsonl")), before);

  const std::string table = run({"report", at("r.jsonl"), "--csv", at("r.csv")});
  testing::expect_part(table, ", cpu, fp32, batch 64: ");
  EXPECT_TRUE(slurp(at("r.csv")).starts_with("schema,kind,"));
  EXPECT_EQ(ordered_json::parse(run({"report", at("r.jsonl"), "--json"})).at("rows").size(), 9U);
}

TEST_F(CommandsBench, resuming_measures_what_another_machine_has_measured) {
  std::vector<std::string> measure = bench({at("lmdb/test"), "--threads", "0", "--repeat", "1",
                                            "--seconds", "0.05", "--out", at("r.jsonl")});
  run(measure);
  ordered_json row = rows().at(0);
  row["environment"]["cpu"] = "another";
  write_text(at("r.jsonl"), row.dump() + "\n");
  measure.emplace_back("--resume");
  run(measure);
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_NE(rows().at(1).at("environment").at("cpu"), "another");
}

TEST_F(CommandsBench, resuming_wants_as_many_repeats_and_knows_a_dataset_however_it_is_spelled) {
  const auto planned = [&](const std::string& dataset, const std::string& repeat) {
    const std::string plan =
        run(bench({dataset, "--threads", "1", "--seconds", "0.05", "--repeat", repeat, "--out",
                   at("r.jsonl"), "--resume", "--dry-run", "--json"}));
    return ordered_json::parse(plan).at("points").size();
  };
  run(bench({at("lmdb/train"), "--threads", "1", "--seconds", "0.05", "--repeat", "1", "--out",
             at("r.jsonl")}));
  EXPECT_EQ(planned(at("lmdb/train"), "1"), 0U);
  EXPECT_EQ(planned(at("./lmdb/../lmdb/train"), "1"), 0U);
  EXPECT_EQ(planned(at("recordio/train"), "1"), 1U);
  EXPECT_EQ(planned(at("lmdb/train"), "3"), 1U);
}

TEST_F(CommandsBench, a_shell_takes_a_row_s_command_as_it_was_given) {
  const std::string odd = at("it's [odd] $(x)");
  std::filesystem::copy(at("lmdb/test"), odd);
  run(bench({odd, "--threads", "0", "--repeat", "1", "--seconds", "0.05", "--out", at("r.jsonl")}));
  const std::string command = rows().at(0).at("environment").at("command");
  const Said said =
      testing::run_program("sh", {"-c", "feedrate() { printf '%s\\n' \"$@\"; }; " + command});
  testing::expect_part(said.output, odd + "\n");
}

TEST_F(CommandsBench, refuses_datasets_of_different_images_but_in_a_plan) {
  const std::string said =
      run(bench({at("lmdb/train"), at("lmdb/test"), "--threads", "1", "--out", at("r.jsonl")}),
          exit_failed);
  testing::expect_part(said, "holds other images");
  EXPECT_FALSE(std::filesystem::exists(at("r.jsonl")));

  const ordered_json plan = {{"datasets", {at("lmdb/train"), at("lmdb/test")}},
                             {"networks", {"mlp"}},
                             {"threads", {1}},
                             {"repeat", 1},
                             {"seconds", 0.05}};
  write_text(at("plan.json"), plan.dump());
  run(bench({"--plan", at("plan.json"), "--out", at("r.jsonl")}));
  std::set<std::string> demands;
  for (const ordered_json& row : rows()) {
    if (row.at("kind") == demand_kind) demands.insert(row.at("digest"));
  }
  EXPECT_EQ(rows().size(), 6U);
  EXPECT_EQ(demands.size(), 2U);
}

TEST_F(CommandsBench, without_a_results_file_it_prints_the_report) {
  const auto measure =
      bench({at("lmdb/train"), "--threads", "0-1", "--repeat", "1", "--seconds", "0.05"});
  const Said said = feedrate(measure);
  EXPECT_EQ(said.code, exit_done) << said.errors;
  testing::expect_part(said.output, "images/s");
  testing::expect_part(said.output, "supply");
  EXPECT_EQ(said.errors.find("feedrate report"), std::string::npos) << said.errors;
  auto resumed = measure;
  resumed.emplace_back("--resume");
  testing::expect_part(run(resumed, exit_misused), "--resume needs --out");
}

TEST_F(CommandsBench, with_json_it_prints_each_row_as_a_line_and_writes_the_same_to_the_file) {
  auto measure =
      bench({at("lmdb/train"), "--threads", "0-1", "--repeat", "1", "--seconds", "0.05", "--json"});
  const std::string printed = run(measure);
  std::istringstream lines(printed);
  std::set<unsigned> threads;
  for (std::string line; std::getline(lines, line);) {
    threads.insert(ordered_json::parse(line).at("threads").get<unsigned>());
  }
  EXPECT_EQ(threads, (std::set<unsigned>{0, 1}));
  measure.insert(measure.end(), {"--out", at("r.jsonl")});
  const std::string lines_printed = run(measure);
  EXPECT_TRUE(lines_printed == slurp(at("r.jsonl"))) << lines_printed;
}

TEST_F(CommandsBench, a_dry_run_prints_the_plan_and_measures_nothing) {
  const auto asked = bench({at("lmdb/train"), "--network", "mlp,lenet", "--threads", "0,1",
                            "--batch", "16,64", "--cache", "warm,cold", "--dry-run"});
  const std::string text = run(asked);
  testing::expect_part(text,
                       "  supply        8 points  batch 16, 64; cache cold, warm; threads 0, 1\n");
  testing::expect_part(text, "  demand        4 points  lenet, mlp on cpu, fp32; batch 16, 64\n");
  testing::expect_part(text, "28 points, 3 repeats of 2.0 s each: 2:48 min");
  auto as_json = asked;
  as_json.emplace_back("--json");
  EXPECT_EQ(ordered_json::parse(run(as_json)).at("points").size(), 28U);
}

TEST_F(CommandsBench, impossible_requests_are_refused_before_anything_is_measured) {
  const auto refused = [&](std::vector<std::string> more, std::string_view part) {
    more.insert(more.end(), {at("lmdb/train"), "--out", at("r.jsonl")});
    testing::expect_part(run(bench(more), exit_failed), part);
    EXPECT_FALSE(std::filesystem::exists(at("r.jsonl")));
  };
  refused({"--network", "vgg16"}, "vgg16 cannot take its images (28 × 28 × 1)");
  refused({"--network", "lenet", "--precision", "fp16"}, "not in fp16");
  refused({"--decode", "scaled"}, "decode scaled: it is for JPEGs");
  testing::expect_part(run(bench({at("lmdb/train"), "--precision", "fp31"}), exit_misused), "fp31");

  write_text(at("plan.json"),
             ordered_json({{"datasets", at("lmdb/train")}, {"networks", {"vgg16"}}}).dump());
  const std::string said =
      run(bench({"--plan", at("plan.json"), "--out", at("r.jsonl")}), exit_failed);
  testing::expect_part(said, "plan.json: ");
  testing::expect_part(said, "vgg16 cannot take its images");
  const std::string unwritable =
      run(bench({at("lmdb/train"), "--out", at("absent/r.jsonl")}), exit_failed);
  testing::expect_part(unwritable, "absent/r.jsonl: cannot open");
}

TEST_F(CommandsBench, cold_points_have_rows_of_their_own_and_warn_when_partly_warm) {
  const Said said =
      feedrate(bench({at("lmdb/train"), "--network", "mlp", "--threads", "1", "--cache",
                      "warm,cold", "--repeat", "1", "--seconds", "0.05", "--out", at("r.jsonl")}));
  EXPECT_EQ(said.code, exit_done);
  testing::expect_part(said.errors, "epochs, only the first came from the disk");
  std::multiset<std::string> found;
  for (const ordered_json& row : rows()) {
    found.insert(row.at("kind").get<std::string>() + " " + row.at("cache").get<std::string>());
  }
  EXPECT_EQ(found, (std::multiset<std::string>{"supply warm", "supply cold", "demand warm",
                                               "delivered warm", "delivered cold"}));
}

TEST_F(CommandsBench, a_plan_excludes_options) {
  testing::expect_part(run(bench({at("lmdb/train"), "--plan", "p", "--out", "r"}), exit_misused),
                       "--plan");
  testing::expect_part(run(bench({"--threads", "1", "--plan", "p", "--out", "r"}), exit_misused),
                       "--plan");
  testing::expect_part(run(bench({"--out", "r"}), exit_misused), "PATH or --plan");
}

TEST_F(CommandsBench, interrupted_it_keeps_what_was_measured_and_goes_on_later) {
  std::vector<std::string> words = bench({at("lmdb/train"), "--threads", "0,1,2,3", "--repeat", "1",
                                          "--seconds", "0.3", "--out", at("r.jsonl")});
  std::vector<char*> pointers;
  std::string program = testing::program_under_test();
  pointers.push_back(program.data());
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, program.c_str(), nullptr, nullptr, pointers.data(), environ), 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto has_a_row = [&] {
    return std::filesystem::exists(at("r.jsonl")) && slurp(at("r.jsonl")).ends_with("\n");
  };
  while (!has_a_row() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  const std::size_t kept = rows().size();
  EXPECT_GE(kept, 1U);
  EXPECT_LT(kept, 4U);
  words.emplace_back("--resume");
  run(words);
  EXPECT_EQ(rows().size(), 4U);
}

TEST(UnitMachineLock, is_held_by_one_process_at_a_time_which_is_named) {
  const TempDirectory directory;
  {
    const MachineLock held(directory.path());
    testing::expect_error([&] { MachineLock(directory.path()); },
                          {join("process ", getpid()), "--beside-others"});
  }
  EXPECT_NO_THROW(MachineLock(directory.path()));
}

}  // namespace
}  // namespace feedrate::tools
