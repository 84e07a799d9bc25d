// Compares tools/JSON.md with what the commands print: the page has every key printed, says when it
// is null, and has no other keys. tools/schema.json, which is made from the page, holds for it too.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "formats/io/directory_lock.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tests/tools/invented_rows.h"
#include "tests/tools/json_page_reader.h"
#include "tests/tools/rows.h"
#include "tools/lab/bench/condition.h"
#include "tools/lab/bench/plan_file.h"
#include "tools/lab/jobs/load_report.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::JsonPage;
using testing::Said;
using testing::slurp;

constexpr int no_validator = 77;  // python3 has no jsonschema

std::string place(const char* file) { return (testing::source_directory() / file).string(); }

Said python(const std::vector<std::string>& arguments) {
  return testing::run_program("python3", arguments);
}

TEST(UnitJsonSchema, is_what_the_page_says) {
  const Said said = python({place("tools/json_schema.py"), "--check"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
}

TEST(UnitJsonSchema, refuses_what_the_page_does_not_have) {
  const testing::TempDirectory directory;
  const auto validate = [&](const ordered_json& object) {
    write_text(directory / "read.json",
               ordered_json{{{"section", "shape"}, {"object", object}}}.dump());
    return python({place("tests/tools/validate_json.py"), place("tools/schema.json"),
                   (directory / "read.json").string()});
  };
  const Said said = validate({{"height", 28}, {"width", 28}, {"channels", 1}});
  if (said.code == no_validator) GTEST_SKIP() << "outputs are not validated: " << said.errors;
  EXPECT_EQ(said.code, exit_done) << said.errors;
  for (const ordered_json& wrong :
       {ordered_json{{"height", 28}, {"width", 28}},
        ordered_json{{"height", 28}, {"width", 28}, {"channels", "1"}},
        ordered_json{{"height", 28}, {"width", nullptr}, {"channels", 1}},
        ordered_json{{"height", 28}, {"width", 28}, {"channels", 1}, {"depth", 8}}}) {
    EXPECT_EQ(validate(wrong).code, exit_failed) << wrong;
  }
}

class CommandsJsonPage : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  static std::string run(const std::vector<std::string>& arguments, int code = exit_done) {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, code) << arguments.front() << ": " << said.errors << said.output;
    return said.output;
  }

  /// Checks what a command prints against `section`.
  void read(std::vector<std::string> arguments, const std::string& section, int code = exit_done) {
    arguments.emplace_back("--json");
    reader_.read(ordered_json::parse(run(arguments, code)), section);
  }

  /// 300 digits to train on and fewer to test on, in two LMDBs.
  void convert() {
    run({"synth", "mnist", "--images", "300", "--out", at("archives")});
    read(
        {"convert", "mnist", at("archives"), "--to", "lmdb", "--split", "all", "--out", at("lmdb")},
        "convert");
  }

  /// Everything that a test has read is valid by the schema.
  void TearDown() override {
    if (reader_.all_read().empty()) return;
    write_text(at("read.json"), reader_.all_read().dump());
    const Said said = python(
        {place("tests/tools/validate_json.py"), place("tools/schema.json"), at("read.json")});
    EXPECT_TRUE(said.code == exit_done || said.code == no_validator) << said.errors;
  }

  testing::JsonPageReader reader_;

 private:
  testing::TempDirectory directory_;
};

TEST_F(CommandsJsonPage, has_a_section_for_each_command_that_prints_json) {
  const JsonPage page;
  for (const Command* command : commands()) {
    const std::string name(command->name);
    const bool prints_json = run({name, "--help"}).find("  --json") != std::string::npos;
    EXPECT_EQ(page.has(name), prints_json) << name;
  }
}

TEST_F(CommandsJsonPage, inspect_and_verify) {
  convert();
  read({"inspect", at("lmdb/train")}, "inspect");
  read({"verify", at("lmdb/train"), "--against", at("lmdb/train")}, "verify");

  write_dataset(container("recordio"), png_codec, at("set"), testing::make_examples({8, 8, 1}, 20));
  const std::string index = slurp(at("set/data.idx"));
  std::fstream file(at("set/data.rec"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(std::stol(index.substr(index.find("\n1\t") + 3)));
  file.write("....", 4);  // where the second record's magic number stood
  file.close();
  read({"inspect", at("set")}, "inspect");
  read({"verify", at("set")}, "verify", exit_failed);
  reader_.expect_all_seen({"inspect", "shape", "spread", "verify", "finding"});
}

TEST_F(CommandsJsonPage, convert_index_and_mean) {
  convert();
  run({"convert", "dataset", at("lmdb/train"), "--to", "recordio", "--out", at("recordio")});
  read({"index", at("recordio")}, "index");
  write_dataset(container("lmdb"), jpeg_codec, at("photographs"),
                testing::make_examples({160, 160, 3}, 2));
  read({"index", at("photographs"), "--crops"}, "index");
  read({"mean", at("lmdb/train"), "--out", at("mean.binaryproto")}, "mean");
  read({"mean", at("mean.binaryproto")}, "mean");
  reader_.expect_all_seen({"convert", "index", "mean"});
}

TEST_F(CommandsJsonPage, status) {
  convert();
  run({"convert", "dataset", at("lmdb/train"), "--to", "recordio", "--shards", "2", "--part", "1/2",
       "--out", at("parts")});
  std::filesystem::create_directory(at("parts.part-2-of-2.partial"));
  read({"status", at("parts")}, "status");
  const DirectoryLock running(at("parts.part-2-of-2.partial"));
  read({"status", at("parts")}, "status");
  reader_.expect_all_seen({"status"});
}

TEST_F(CommandsJsonPage, load) {
  convert();
  read({"load", at("lmdb/train"), "--emulate", "1e6"}, "load");
  read({"load", at("lmdb/train"), "--no-digest", "--cold"}, "load");
  LoadReport tuned;
  tuned.tuning = Tuning{.threads = 1, .tried = {{.threads = 1}}};
  reader_.read(ordered_json::parse(tuned.json()), "load");
  reader_.expect_all_seen({"load"});
}

TEST_F(CommandsJsonPage, train_in_all_its_modes) {
  convert();
  const std::vector<std::string> train{"train", at("lmdb/train"), "--network", "mlp"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), train.begin(), train.end());
    return more;
  };
  read(with({"--steps", "3", "--val", at("lmdb/test")}), "train");
  read(with({"--steps", "1", "--resident"}), "train");
  read(with({"--mode", "infer"}), "train-forward");
  read({"train", at("lmdb/train"), "--network", "lenet", "--batch", "300", "--mode", "features",
        "--out", at("features.npy")},
       "train-forward");
  reader_.expect_all_seen({"train", "train-forward", "host-telemetry", "device-telemetry"});
}

TEST_F(CommandsJsonPage, time_and_list) {
  read({"time", "mlp", "--batch", "2", "--seconds", "0.01"}, "time");
  read({"time", "mlp", "--batch", "2", "--passes"}, "passes");
  read({"list"}, "list");
  reader_.expect_all_seen({"time", "passes", "list", "kind"});
}

TEST_F(CommandsJsonPage, advise) {
  write_dataset(container("png-map"), png_codec, at("set"),
                testing::make_examples({32, 32, 3}, 100));
  read({"advise", at("set"), "--seconds", "0.5", "--batch", "10"}, "advise");
  reader_.expect_all_seen({"advise", "variant", "supply"});
}

TEST_F(CommandsJsonPage, bench_and_the_rows_it_writes) {
  convert();
  const std::vector<std::string> bench{
      "bench",     at("lmdb/train"), "--network",      "mlp",      "--threads",
      "1",         "--out",          at("r.jsonl"),    "--repeat", "1",
      "--seconds", "0.05",           "--beside-others"};
  std::vector<std::string> planned = bench;
  planned.emplace_back("--dry-run");
  read(planned, "bench");
  run(bench);
  std::istringstream lines(slurp(at("r.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    reader_.read(ordered_json::parse(line), "rows");
  }
  reader_.expect_all_seen({"bench", "rows", "environment"});
}

TEST_F(CommandsJsonPage, report) {
  std::ofstream rows(at("rows.jsonl"));
  for (const auto& row : testing::invented_bench()) rows << to_json_line(row) << "\n";
  rows.close();
  read({"report", at("rows.jsonl")}, "report");
  read({"report", at("rows.jsonl"), at("rows.jsonl"), "--compare"}, "report-compare");
  reader_.expect_all_seen(
      {"report", "study", "curve", "point", "prediction-error", "attribution", "report-compare"});
}

std::set<std::string> keys_of(const ordered_json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(UnitJsonPage, has_the_keys_of_a_row_and_no_others) {
  const JsonPage page;
  const ordered_json row = ordered_json::parse(to_json_line(testing::demand(1)));
  EXPECT_EQ(page.keys("rows"), keys_of(row));
  EXPECT_EQ(page.keys("environment"), keys_of(row.at("environment")));
}

TEST(UnitJsonPage, has_the_keys_that_a_plan_may_have_and_no_others) {
  const JsonPage page;
  const ordered_json plan = {{"datasets", {"a"}},
                             {"tools", {"feedrate"}},
                             {"recipes", {"none"}},
                             {"batches", {64}},
                             {"decodes", {"full"}},
                             {"caches", {"warm"}},
                             {"decodes", {"full"}},
                             {"threads", {1}},
                             {"networks", {"lenet"}},
                             {"devices", {"cpu"}},
                             {"precisions", {"fp32"}},
                             {"compute_threads", 1},
                             {"repeat", 1},
                             {"seconds", 1},
                             {"seed", 1},
                             {"exclude", {{{"kind", "supply"}}}},
                             {"only", {{{"when", {{"batch", 64}}}, {"then", {{"threads", 1}}}}}}};
  const testing::TempDirectory directory;
  write_text(directory / "plan.json", plan.dump());
  EXPECT_NO_THROW(read_plan(directory / "plan.json"));
  std::set<std::string> keys = keys_of(plan);
  keys.insert({"only[].when", "only[].then"});
  EXPECT_EQ(page.keys("plan-files"), keys);

  std::set<std::string> conditions;
  for (const ConditionKey& key : condition_keys()) conditions.emplace(key.name);
  EXPECT_EQ(page.keys("condition"), conditions);
}

}  // namespace
}  // namespace feedrate::tools
