// What the commands print is valid by 'feedrate schema', which says of every key what it means.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "formats/io/directory_lock.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tests/tools/invented_rows.h"
#include "tests/tools/lab/diagnose/made.h"
#include "tests/tools/rows.h"
#include "tools/lab/bench/condition.h"
#include "tools/lab/bench/plan_file.h"
#include "tools/lab/diagnose/diagnosis.h"
#include "tools/lab/jobs/load_report.h"
#include "tools/program/cli/command.h"
#include "tools/program/commands/json_objects.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::Said;
using testing::slurp;

constexpr int no_validator = 77;  // python3 has no jsonschema

std::set<std::string> keys_of(const Description& object) {
  std::set<std::string> names;
  for (const Key& key : object.keys) names.emplace(key.name);
  return names;
}

std::set<std::string> keys_of(const ordered_json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

Description object_named(std::string_view name) {
  for (Description& object : json_objects()) {
    if (object.heading.name == name) return std::move(object);
  }
  throw Error(join("no object ", name));
}

/// Every key says what it means and, where it may be empty, what that means.
void expect_meanings(const Description& object, const std::string& place) {
  std::set<std::string_view> names;
  EXPECT_FALSE(object.keys.empty()) << place;
  for (const Key& key : object.keys) {
    const std::string here = place + "." + std::string(key.name);
    const About& about = key.about;
    EXPECT_TRUE(names.insert(key.name).second) << here << " is there twice";
    EXPECT_FALSE(about.meaning.empty()) << here << " has no meaning";
    EXPECT_FALSE(about.meaning.ends_with('.')) << here;
    if (key.is_optional) {
      EXPECT_FALSE(about.null.empty() && about.absent.empty()) << here << ": when is it empty?";
    } else {
      EXPECT_TRUE(about.null.empty()) << here << " is never null";
    }
    const ValueType* type = &key.type;
    while (type->of) type = type->of.get();
    if (type->object) expect_meanings(*type->object, here);
  }
}

TEST(UnitJsonObjects, say_of_every_key_what_it_means_and_when_it_is_null) {
  std::set<std::string_view> names;
  for (const Description& object : json_objects()) {
    EXPECT_FALSE(object.heading.about.empty()) << object.heading.name;
    EXPECT_TRUE(names.insert(object.heading.name).second) << object.heading.name;
    expect_meanings(object, std::string(object.heading.name));
  }
}

TEST(UnitJsonObjects, of_rows_have_the_keys_of_a_row) {
  Row row = testing::demand(1);
  row.emulates = "5,910 images/s";
  row.emulated_rate = 5910;
  row.servers = "--connections 8";
  row.shuffle_blocks = 64;
  row.kernel_us = 3;
  row.cause = "It waits.";
  row.remote.emplace();
  EXPECT_EQ(keys_of(object_named("rows")), keys_of(ordered_json::parse(to_json_line(row))));
}

class CommandsSchema : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  static std::string run(const std::vector<std::string>& arguments, int code = exit_done) {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, code) << arguments.front() << ": " << said.errors << said.output;
    return said.output;
  }

  /// Keeps what a command prints, to be validated as the object of that name.
  void read(std::vector<std::string> arguments, const std::string& name, int code = exit_done) {
    arguments.emplace_back("--json");
    keep(ordered_json::parse(run(arguments, code)), name);
  }
  void keep(ordered_json object, const std::string& name) {
    read_.push_back({{"section", name}, {"object", std::move(object)}});
  }

  /// 300 digits to train on and fewer to test on, in two LMDBs.
  void convert() {
    run({"synth", "mnist", "--images", "300", "--out", at("archives")});
    read(
        {"convert", "mnist", at("archives"), "--to", "lmdb", "--split", "all", "--out", at("lmdb")},
        "convert");
  }

  /// Validates what was read by the schema.
  Said validate() const {
    write_text(at("schema.json"), run({"schema"}));
    write_text(at("read.json"), read_.dump());
    return testing::run_program(
        "python3", {(testing::source_directory() / "tests/tools/validate_json.py").string(),
                    at("schema.json"), at("read.json")});
  }
  void TearDown() override {
    if (read_.empty()) return;
    const Said said = validate();
    EXPECT_TRUE(said.code == exit_done || said.code == no_validator) << said.errors;
    read_.clear();
  }

  ordered_json read_ = ordered_json::array();

 private:
  testing::TempDirectory directory_;
};

TEST_F(CommandsSchema, refuses_what_it_does_not_describe) {
  const ordered_json good{{"name", "lenet"}, {"summary", "a network"}};
  keep(good, "kind");
  if (validate().code == no_validator) GTEST_SKIP() << "outputs are not validated";
  for (const ordered_json& wrong :
       {ordered_json{{"name", "lenet"}}, ordered_json{{"name", 1}, {"summary", "a network"}},
        ordered_json{{"name", "lenet"}, {"summary", nullptr}},
        ordered_json{{"name", ""}, {"summary", ""}, {"depth", 8}}}) {
    read_.clear();
    keep(wrong, "kind");
    EXPECT_EQ(validate().code, exit_failed) << wrong;
  }
  read_.clear();
}

TEST_F(CommandsSchema, refuses_the_values_that_a_plan_refuses) {
  convert();
  ordered_json good{{"datasets", {at("lmdb/train")}}, {"batches", {1, 65536}}};
  const auto planned = [&](const ordered_json& plan) {
    write_text(at("plan.json"), plan.dump());
    return feedrate({"bench", "--plan", at("plan.json"), "--dry-run"}).code == exit_done;
  };
  const auto valid = [&](const ordered_json& plan) {
    read_.clear();
    keep(plan, "plan-files");
    return validate().code == exit_done;
  };
  EXPECT_TRUE(planned(good));
  if (!valid(good)) {
    ASSERT_EQ(validate().code, no_validator);
    GTEST_SKIP() << "outputs are not validated";
  }
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, ordered_json>>{{"batches", 65537},
                                                         {"batches", {64, 0}},
                                                         {"batches", ordered_json::array()},
                                                         {"threads", 257},
                                                         {"threads", -1},
                                                         {"caches", "tepid"},
                                                         {"precisions", {"fp32", "fp8"}},
                                                         {"repeat", 0},
                                                         {"repeat", 1001},
                                                         {"seconds", 0},
                                                         {"seed", -1},
                                                         {"exclude", {{"batch", 0}}},
                                                         {"exclude", {{"kind", "supplied"}}}}) {
    ordered_json wrong = good;
    wrong[key] = value;
    EXPECT_FALSE(planned(wrong)) << wrong;
    EXPECT_FALSE(valid(wrong)) << wrong;
  }
  read_.clear();
}

TEST_F(CommandsSchema, describes_every_command_that_prints_json) {
  std::set<std::string_view> names;
  for (const Description& object : json_objects()) names.insert(object.heading.name);
  for (const Command* command : commands()) {
    const std::string help = run({std::string(command->name), "--help"});
    EXPECT_EQ(names.contains(command->name), help.find("  --json") != std::string::npos)
        << command->name;
  }
}

TEST_F(CommandsSchema, of_one_object_has_what_that_needs) {
  const ordered_json schema = ordered_json::parse(run({"schema", "load"}));
  EXPECT_EQ(schema.at("$ref"), "#/$defs/load");
  EXPECT_EQ(keys_of(schema.at("$defs")), (std::set<std::string>{"load", "device-decoding"}));
  EXPECT_NE(run({"schema", "load", "--markdown"}).find("| `auto.tried[].waited` | number, share |"),
            std::string::npos);
}

TEST_F(CommandsSchema, inspect_and_verify) {
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
}

TEST_F(CommandsSchema, convert_index_and_mean) {
  convert();
  run({"convert", "dataset", at("lmdb/train"), "--to", "recordio", "--out", at("recordio")});
  read({"index", at("recordio")}, "index");
  write_dataset(container("lmdb"), jpeg_codec, at("photographs"),
                testing::make_examples({160, 160, 3}, 2));
  read({"index", at("photographs"), "--crops"}, "index");
  read({"mean", at("lmdb/train"), "--out", at("mean.binaryproto")}, "mean");
  read({"mean", at("mean.binaryproto")}, "mean");
}

TEST_F(CommandsSchema, status) {
  convert();
  run({"convert", "dataset", at("lmdb/train"), "--to", "recordio", "--shards", "2", "--part", "1/2",
       "--out", at("parts")});
  std::filesystem::create_directory(at("parts.part-2-of-2.partial"));
  read({"status", at("parts")}, "status");
  const DirectoryLock running(at("parts.part-2-of-2.partial"));
  read({"status", at("parts")}, "status");
}

TEST_F(CommandsSchema, load) {
  convert();
  read({"load", at("lmdb/train"), "--emulate", "1e6"}, "load");
  read({"load", at("lmdb/train"), "--no-digest", "--cold"}, "load");
  LoadReport tuned;
  tuned.tuning = Tuning{.threads = 1, .tried = {{.threads = 1}}};
  keep(ordered_json::parse(tuned.json()), "load");
}

TEST_F(CommandsSchema, train_in_all_its_modes) {
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
}

TEST_F(CommandsSchema, time_and_list) {
  read({"time", "mlp", "--batch", "2", "--seconds", "0.01"}, "time");
  read({"time", "mlp", "--batch", "2", "--passes"}, "passes");
  read({"list"}, "list");
}

TEST_F(CommandsSchema, advise) {
  write_dataset(container("png-map"), png_codec, at("set"),
                testing::make_examples({32, 32, 3}, 100));
  read({"advise", at("set"), "--seconds", "0.5", "--batch", "10"}, "advise");
}

TEST_F(CommandsSchema, diagnose) {
  keep(ordered_json::parse(run({"diagnose", "--json", "--", "true"})), "diagnose");
  testing::MadeLoop loop;
  loop.spans = {{"decode", {0.05, 0.05, 10}}, {"getitem", {0.02, 0.02, 10}}};
  keep(ordered_json::parse(diagnose(loop.seen(), {"python"}, 4).json()), "diagnose");
}

TEST_F(CommandsSchema, bench_and_the_rows_it_writes) {
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
    keep(ordered_json::parse(line), "rows");
  }
}

TEST_F(CommandsSchema, report) {
  std::ofstream rows(at("rows.jsonl"));
  for (const auto& row : testing::invented_bench()) rows << to_json_line(row) << "\n";
  rows.close();
  read({"report", at("rows.jsonl")}, "report");
  read({"report", at("rows.jsonl"), at("rows.jsonl"), "--compare"}, "report-compare");
}

TEST(UnitJsonObjects, of_plans_have_the_keys_that_a_plan_may_have) {
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
                             {"emulated", {"400"}},
                             {"decide", 1},
                             {"host_cores", 1},
                             {"cores", 1},
                             {"precisions", {"fp32"}},
                             {"compute_threads", 1},
                             {"repeat", 1},
                             {"seconds", 1},
                             {"seed", 1},
                             {"shuffle_blocks", 64},
                             {"connections", 8},
                             {"endpoint", "http://localhost"},
                             {"cache_dir", "cache"},
                             {"cache_size", 100'000'000},
                             {"exclude", {{{"kind", "supply"}}}},
                             {"only", {{{"when", {{"batch", 64}}}, {"then", {{"threads", 1}}}}}}};
  const testing::TempDirectory directory;
  write_text(directory / "plan.json", plan.dump());
  EXPECT_NO_THROW(read_plan(directory / "plan.json"));
  EXPECT_EQ(keys_of(object_named("plan-files")), keys_of(plan));
}

}  // namespace
}  // namespace feedrate::tools
