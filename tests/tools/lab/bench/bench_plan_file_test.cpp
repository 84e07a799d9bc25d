#include "tools/lab/bench/plan_file.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::tools {
using namespace formats;

namespace {

BenchOptions read(const std::string& text) {
  const testing::TempDirectory directory;
  write_text(directory / "plan.json", text);
  return read_plan(directory / "plan.json");
}

/// The problem names the file and holds `parts`.
void refuses(const std::string& text, std::initializer_list<std::string_view> parts) {
  testing::expect_error([&] { read(text); }, {"plan.json: "});
  testing::expect_error([&] { read(text); }, parts);
}

TEST(UnitBenchPlanFile, can_say_everything_that_options_can) {
  const BenchOptions options = read(R"({
    "datasets": ["a", "b"], "tools": ["feedrate", "mxnet"], "recipes": ["none"], "batches": [16, 64], "caches": ["warm", "cold"],
    "decodes": ["full", "scaled"], "threads": [0, 8], "networks": ["lenet", "mlp"], "devices": "cpu", "precisions": ["fp32"],
    "repeat": 5, "seconds": 0.5, "seed": 7, "compute_threads": 3, "cores": 2,
    "exclude": [{"network": "mlp", "threads": [0, 1]}],
    "only": {"when": {"cache": "cold"}, "then": {"kind": ["supply"]}}})");
  EXPECT_EQ(options.paths, (std::vector<std::filesystem::path>{"a", "b"}));
  EXPECT_EQ(options.tools, (std::vector<std::string>{"feedrate", "mxnet"}));
  EXPECT_EQ(options.recipes, std::vector<std::string>{"none"});
  EXPECT_EQ(options.batches, (std::vector<std::uint32_t>{16, 64}));
  EXPECT_EQ(options.caches, (std::vector<std::string>{"warm", "cold"}));
  EXPECT_EQ(options.decodes, (std::vector<std::string>{"full", "scaled"}));
  EXPECT_EQ(options.threads, (std::vector<unsigned>{0, 8}));
  EXPECT_EQ(options.networks, (std::vector<std::string>{"lenet", "mlp"}));
  EXPECT_EQ(options.devices, std::vector<std::string>{"cpu"});
  EXPECT_EQ(options.precisions, std::vector<std::string>{"fp32"});
  EXPECT_EQ(options.repeat, 5U);
  EXPECT_EQ(options.seconds, 0.5);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.compute_threads, 3U);
  EXPECT_EQ(options.cores, 2U);
  ASSERT_EQ(options.exclude.size(), 1U);
  EXPECT_EQ(options.exclude[0].text(), "network mlp, threads 0 or 1");
  ASSERT_EQ(options.only.size(), 1U);
  EXPECT_EQ(options.only[0].when.text(), "cache cold");
  EXPECT_EQ(options.only[0].then.text(), "kind supply");
}

TEST(UnitBenchPlanFile, conditions_name_emulated_devices_as_rows_do) {
  const BenchOptions options = read(R"({"datasets": "a", "networks": "resnet50",
    "emulated": ["h100x8", "400"],
    "exclude": [{"device": ["cpu", "emulated h100x8"]}, {"precision": "mixed"}],
    "only": {"when": {"device": "emulated 400/s"}, "then": {"threads": 1}}})");
  EXPECT_EQ(options.exclude.at(0).text(), "device cpu or emulated h100x8");
  EXPECT_EQ(options.exclude.at(1).text(), "precision mixed");
  EXPECT_EQ(options.only.at(0).when.text(), "device emulated 400/s");
  refuses(R"({"datasets": "a", "emulated": "h100", "exclude": [{"device": "cppu"}]})",
          {"did you mean cpu?"});
  refuses(R"({"datasets": "a", "exclude": [{"device": "emulated h100"}]})", {"no device"});
}

TEST(UnitBenchPlanFile, what_it_omits_has_the_defaults_of_the_options) {
  const BenchOptions options = read(R"({"datasets": "a"})");
  const BenchOptions usual;
  EXPECT_EQ(options.threads, usual.threads);
  EXPECT_EQ(options.repeat, usual.repeat);
  EXPECT_TRUE(options.networks.empty());
}

TEST(HostileBenchPlanFile, text_that_is_not_json_names_line_and_column) {
  refuses("{\"datasets\": [\"a\"],\n \"threads\": [1,,2]}", {"line 2, column 16"});
  refuses("", {"line 1"});
  refuses("[1]", {"a plan is an object"});
}

TEST(HostileBenchPlanFile, an_unknown_key_names_its_line_and_the_nearest) {
  refuses("{\"datasets\": [\"a\"],\n\n \"thread\": [1]}",
          {"line 3", "no key 'thread'", "did you mean threads?"});
  refuses(R"({"datasets": "a", "exclude": [{"treads": 1}]})",
          {"no key of a condition 'treads'", "did you mean threads?"});
  refuses(R"({"datasets": "a", "only": [{"when": {"batch": 1}, "than": {"batch": 1}}]})",
          {"'than'", "did you mean then?"});
}

TEST(HostileBenchPlanFile, a_repeated_key_is_named) {
  refuses(R"({"datasets": "a", "seed": 1, "seed": 2})", {"\"seed\"", "twice"});
}

TEST(HostileBenchPlanFile, a_value_of_the_wrong_type_or_out_of_range_is_named) {
  refuses("{\"datasets\": \"a\",\n\"threads\": [1, -1]}", {"line 2", "threads", "-1"});
  refuses(R"({"datasets": "a", "threads": ["2"]})", {"threads", "whole number", "\"2\""});
  refuses(R"({"datasets": "a", "batches": 2.5})", {"batches", "2.5"});
  refuses(R"({"datasets": "a", "batches": 0})", {"batches", "from 1"});
  refuses(R"({"datasets": "a", "repeat": [3]})", {"repeat", "[3]"});
  refuses(R"({"datasets": "a", "seconds": 0})", {"seconds", "above 0"});
  refuses(R"({"datasets": "a", "networks": [1]})", {"networks", "in quotes"});
  refuses(R"({"datasets": "a", "threads": []})", {"threads", "empty list"});
  refuses(R"({"datasets": "a", "exclude": ["mlp"]})", {"exclude", "object"});
  refuses(R"({"datasets": "a", "exclude": [{}]})", {"exclude", "object"});
  refuses(R"({"datasets": "a", "exclude": [{"batch": "64"}]})", {"batch", "whole number"});
  refuses(R"({"datasets": "a", "only": [{"when": {"batch": 1}}]})", {"only", "\"then\""});
}

TEST(HostileBenchPlanFile, an_unknown_name_names_its_line_and_the_nearest) {
  refuses("{\"datasets\": \"a\",\n\"networks\": [\"lenett\"]}",
          {"line 2", "networks", "did you mean lenet?"});
  refuses(R"({"datasets": "a", "recipes": "nonne"})", {"did you mean none?"});
  refuses(R"({"datasets": "a", "devices": "cppu"})", {"did you mean cpu?"});
  refuses(R"({"datasets": "a", "precisions": "fp31"})", {"'fp31'"});
  refuses(R"({"datasets": "a", "caches": "cool"})", {"did you mean cold?"});
  refuses(R"({"datasets": "a", "decodes": "scald"})", {"did you mean scaled?"});
  refuses(R"({"datasets": "a", "exclude": {"network": "lenett"}})", {"did you mean lenet?"});
  refuses(R"({"datasets": "a", "exclude": {"kind": "suply"}})", {"did you mean supply?"});
}

TEST(HostileBenchPlanFile, a_value_that_cannot_be_a_name_is_shown_with_its_key) {
  refuses(R"({"datasets": ["a", ""]})", {"datasets", "expected a path", "\"\""});
  refuses("{\"datasets\": [\"a\\u0000b\"]}", {"datasets", "expected a path", "\"a\\u0000b\""});
}

TEST(HostileBenchPlanFile, a_plan_without_datasets_and_a_missing_plan_are_refused) {
  refuses(R"({"networks": ["lenet"]})", {"names no datasets"});
  testing::expect_error([] { read_plan("absent.json"); }, {"absent.json"});
}

}  // namespace
}  // namespace feedrate::tools
