#include "tools/lab/measure/row.h"
#include "formats/base/statistics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tests/tools/rows.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::expect_error;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(UnitRow, a_row_comes_back_as_it_went) {
  auto row = testing::delivered("lmdb", 2, 6000, 1.5);
  row.telemetry.cpu_seconds = 3.25;
  row.telemetry.gpu_throttle = "none";
  row.telemetry.upload_count = 7;
  row.kernel_us = 1.5;
  const std::string line = to_json_line(row);
  EXPECT_EQ(to_json_line(parse_row(line, "results.jsonl", 1)), line);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

// Users' scripts rely on these keys.
TEST(UnitRow, the_keys_promised_are_all_there) {
  const auto row = nlohmann::json::parse(to_json_line(testing::supply("lmdb", 2, 6000)));
  for (const char* key : {"schema",
                          "kind",
                          "tool",
                          "dataset",
                          "format",
                          "codec",
                          "decode",
                          "recipe",
                          "network",
                          "device",
                          "precision",
                          "batch",
                          "cache",
                          "threads",
                          "workers_seen",
                          "repeats",
                          "images_per_second",
                          "predicted",
                          "stall_percent",
                          "digest",
                          "cpu_seconds",
                          "gpu_memory_mib",
                          "gpu_power_w",
                          "gpu_energy_j",
                          "environment"}) {
    EXPECT_TRUE(row.contains(key)) << key;
  }
}

TEST(UnitRow, what_was_not_measured_is_null_not_zero) {
  const auto row = nlohmann::json::parse(to_json_line(testing::supply("lmdb", 2, 6000)));
  for (const char* key : {"network", "stall_percent", "gpu_power_w", "cpu_energy_j"}) {
    EXPECT_TRUE(row.at(key).is_null()) << key;
  }
  EXPECT_TRUE(row.at("environment").at("gpu").is_null());
}

TEST(UnitRow, a_name_that_is_not_utf8_still_makes_a_row) {
  auto row = testing::supply("lmdb", 2, 6000);
  row.dataset = "data/\xff";
  EXPECT_NO_THROW(nlohmann::json::parse(to_json_line(row)));
}

TEST(UnitRow, the_median_of_an_even_number_lies_between) {
  EXPECT_EQ(median({4, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(HostileRow, a_malformed_line_names_file_and_line_and_the_others_are_kept) {
  const testing::TempDirectory directory;
  const auto file = directory / "results.jsonl";
  const std::string good = to_json_line(testing::supply("lmdb", 2, 6000));
  std::ofstream(file) << good << "\n\n"
                      << good.substr(0, good.size() / 2) << "\n"
                      << to_json_line(testing::supply("lmdb", 4, 9000)) << "\n";
  const ReadRows read = read_rows(file);
  EXPECT_EQ(read.rows.size(), 2U);
  ASSERT_EQ(read.refused.size(), 1U);
  for (const char* part : {"results.jsonl", "line 3", "not a row of results"}) {
    EXPECT_NE(read.refused[0].find(part), std::string::npos) << read.refused[0];
  }
}

TEST(HostileRow, a_measurement_that_is_there_twice_counts_once) {
  const testing::TempDirectory directory;
  const auto file = directory / "doubled.jsonl";
  const std::string line = to_json_line(testing::supply("lmdb", 2, 6000));
  std::ofstream(file) << line << "\n"
                      << to_json_line(testing::supply("lmdb", 4, 6000)) << "\n"
                      << line << "\n";
  const ReadRows read = read_rows(file);
  EXPECT_EQ(read.rows.size(), 2U);
  ASSERT_EQ(read.refused.size(), 1U);
  EXPECT_EQ(read.refused[0], file.string() + ": line 3: the same measurement as line 1");
}

TEST(HostileRow, a_row_of_another_schema_says_so) {
  const std::string good = to_json_line(testing::supply("lmdb", 2, 6000));
  expect_error([&] { parse_row(replaced(good, "\"schema\":2,", ""), "r.jsonl", 7); },
               {"line 7", "schema 1", "measure it again"});
  expect_error([&] { parse_row(replaced(good, "\"schema\":2", "\"schema\":3"), "r.jsonl", 7); },
               {"schema 3", "schema 2"});
}

TEST(UnitRow, rows_say_how_jpegs_were_decoded_and_older_ones_mean_in_full) {
  const std::string now = to_json_line(testing::delivered("lmdb", 2, 1000, 3));
  const auto row = parse_row(replaced(now, "\"decode\":\"full\",", ""), "r.jsonl", 7);
  EXPECT_EQ(row.decode, "full");
  EXPECT_EQ(to_json_line(row), now);
  auto other = row;
  other.codec = "packed";
  other.decode = "device";
  EXPECT_EQ(format_and_codec(other), "lmdb × packed, decoded on the device");
  EXPECT_EQ(parse_row(to_json_line(other), "r.jsonl", 7).decode, "device");
  expect_error(
      [&] { parse_row(replaced(now, "\"decode\":\"full\"", "\"decode\":\"gpu\""), "r.jsonl", 7); },
      {"line 7", "decode 'gpu'"});
}

TEST(HostileRow, a_missing_key_is_named) {
  const std::string line =
      replaced(to_json_line(testing::supply("lmdb", 2, 6000)), "\"digest\"", "\"digits\"");
  expect_error([&] { parse_row(line, "r.jsonl", 7); }, {"r.jsonl", "line 7", "'digest'"});
}

TEST(HostileRow, a_value_of_another_type_is_refused) {
  const std::string line =
      replaced(to_json_line(testing::supply("lmdb", 2, 6000)), "\"batch\":64", "\"batch\":\"64\"");
  expect_error([&] { parse_row(line, "r.jsonl", 7); },
               {"line 7", "batch: expected a whole number", "found \"64\""});
}

TEST(HostileRow, a_number_beyond_its_range_is_refused_and_not_wrapped) {
  const std::string good = to_json_line(testing::supply("lmdb", 2, 6000));
  for (const std::string threads : {"-3", "1e30", "2.5", "4294967296"}) {
    const std::string line = replaced(good, "\"threads\":2", "\"threads\":" + threads);
    expect_error([&] { parse_row(line, "r.jsonl", 7); }, {"line 7", "threads"});
  }
  auto row = testing::supply("lmdb", 2, 6000);
  row.images_per_second = -1;
  expect_error([&] { parse_row(to_json_line(row), "r", 1); },
               {"images_per_second: expected a number of at least 0, found -1"});
  row = testing::delivered("lmdb", 2, 6000, -50);
  expect_error([&] { parse_row(to_json_line(row), "r", 1); }, {"stall_percent", "found -50"});
}

TEST(HostileRow, an_error_names_the_key_and_the_value_found) {
  const std::string good = to_json_line(testing::supply("lmdb", 2, 6000));
  const auto refused = [&](const std::string& from, const std::string& to,
                           std::initializer_list<std::string_view> parts) {
    expect_error([&] { parse_row(replaced(good, from, to), "r.jsonl", 7); }, parts);
  };
  refused("\"images_per_second\":6000.0", "\"images_per_second\":true",
          {"images_per_second: expected a number", "true"});
  refused("\"repeats\":[", "\"repeats\":[null,", {"repeats: expected a number", "null"});
  refused("\"dataset\":\"data/lmdb\"", "\"dataset\":[]", {"dataset: expected a text", "[]"});
  refused("\"environment\":{", "\"environment\":{\"a\":{", {"not a row of results", "no JSON"});
  refused("\"environment\":{", "\"environments\":{", {"lacks the key 'environment'"});
  expect_error([] { parse_row("[1]", "r", 1); }, {"expected an object"});
  expect_error([&] { parse_row(good.substr(0, 90), "r", 1); }, {"no JSON", "cut off"});
}

TEST(HostileRow, a_rate_that_no_machine_has_is_refused) {
  const auto row = testing::supply("lmdb", 2, 1e300);
  expect_error([&] { parse_row(to_json_line(row), "r", 3); }, {"line 3", "images/s"});
}

TEST(HostileRow, an_unknown_kind_a_row_without_repeats_and_one_without_threads_are_refused) {
  auto row = testing::supply("lmdb", 2, 6000);
  row.kind = "guess";
  expect_error([&] { parse_row(to_json_line(row), "r", 1); }, {"'guess'", "supply"});
  row = testing::supply("lmdb", 2, 6000);
  row.repeats.clear();
  expect_error([&] { parse_row(to_json_line(row), "r", 1); }, {"no repeats"});
  row = testing::delivered("lmdb", 2, 6000, 1);
  row.threads.reset();
  expect_error([&] { parse_row(to_json_line(row), "r", 1); }, {"threads is null"});
}

TEST(HostileRow, an_absent_an_empty_and_a_foreign_file_say_what_they_are) {
  const testing::TempDirectory directory;
  expect_error([&] { read_rows(directory / "absent"); }, {"absent", "cannot read"});
  expect_error([&] { read_rows(directory.path()); }, {"cannot read"});
  std::ofstream(directory / "empty");
  expect_error([&] { read_rows(directory / "empty"); }, {"empty", "no rows"});
  std::ofstream(directory / "page") << "<html></html>\n";
  expect_error([&] { read_rows(directory / "page"); }, {"page", "line 1"});
}

}  // namespace
}  // namespace feedrate::tools
