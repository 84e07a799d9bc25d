// The command line: exit codes, suggested names, lists. Runs the real binary.

#include "tools/program/cli/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/places.h"
#include "tests/support/run_program.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::run_program;
using testing::Said;

void expect_said(const std::vector<std::string>& arguments, int code,
                 std::initializer_list<std::string_view> parts) {
  const Said said = feedrate(arguments);
  std::string typed;
  for (const std::string& word : arguments) typed += " " + word;
  EXPECT_EQ(said.code, code) << "feedrate" << typed << "\n" << said.errors;
  EXPECT_EQ(said.output, "") << "feedrate" << typed;
  for (const std::string_view part : parts) {
    EXPECT_NE(said.errors.find(part), std::string::npos)
        << "feedrate" << typed << " says: " << said.errors << "\nbut not:  " << part;
  }
}

TEST(CommandsHelp, an_empty_value_is_misuse_and_not_no_value) {
  expect_said({"train", "absent", "--network", "lenet", "--checkpoint", ""}, exit_misused,
              {"--checkpoint: expected a value, found ''"});
  expect_said({"bench", "--plan", "", "--dry-run"}, exit_misused, {"--plan: expected a value"});
  expect_said({"load", ""}, exit_misused, {"PATH: expected a value"});
  // CLI11 would take the next word as the value.
  expect_said({"load", "--batch=", "5"}, exit_misused,
              {"--batch: expected a whole number from 1 to 65536, found ''"});
  expect_said({"load", "--pixels="}, exit_misused, {"--pixels: expected u8, f32 or f16, found ''"});
  expect_said({"load", "--order=", "data"}, exit_misused, {"--order: expected a value, found ''"});
}

TEST(CommandsHelp, a_value_that_no_dataset_could_take_is_misuse) {
  expect_said({"load", "absent", "--groups", "0x3"}, exit_misused, {"--groups: expected CLASSES"});
  expect_said({"load", "absent", "--groups", "8"}, exit_misused, {"--groups: expected CLASSES"});
  expect_said({"load", "--mix", "absent"}, exit_misused, {"--mix: expected PATH:WEIGHT"});
  expect_said({"load", "--mix", "absent:0"}, exit_misused, {"weight above 0"});
  expect_said({"load", "absent", "--deviation", "0"}, exit_misused, {"--deviation: expected"});
  expect_said({"mean", "absent", "--out", "mean.png"}, exit_misused, {"unknown extension"});
  expect_said({"convert", "mnist", "absent", "--to", "lmdb", "--out", "new", "--split", "x"},
              exit_misused, {"no split 'x'"});
  expect_said({"convert", "mnist", "absent", "--to", "lmdb", "--out", "new", "--boxes", "xml"},
              exit_misused, {"mnist does not take --boxes"});
  const std::vector<std::string> infer{"train", "absent", "--network", "lenet", "--mode", "infer"};
  for (const char* option : {"--log", "--checkpoint", "--val"}) {
    std::vector<std::string> words = infer;
    words.insert(words.end(), {option, "file"});
    expect_said(words, exit_misused, {option, " is for --mode train"});
  }
}

TEST(CommandsHelp, help_with_a_command_is_the_help_of_that_command) {
  const std::string wanted = feedrate({"convert", "--help"}).output;
  EXPECT_EQ(feedrate({"help", "convert"}).output, wanted);
  EXPECT_EQ(feedrate({"help"}).output, feedrate({"--help"}).output);
  expect_said({"help", "convrt"}, exit_misused, {"did you mean convert?"});
  expect_said({"help", "sorces"}, exit_misused, {"did you mean sources?", "feedrate help topics"});
}

TEST(CommandsHelp, version_names_the_build_and_the_libraries) {
  const Said said = feedrate({"--version"});
  EXPECT_EQ(said.code, exit_done);
  EXPECT_EQ(feedrate({"-V"}).output, said.output);
  for (const char* part : {"feedrate ", "commit ", "compiler ", "LMDB 0", "oneTBB "}) {
    EXPECT_NE(said.output.find(part), std::string::npos) << part << "\n" << said.output;
  }
}

TEST(CommandsMisuse, no_command_prints_the_overview_on_stderr_and_exits_2) {
  expect_said({}, exit_misused, {"Usage: feedrate COMMAND"});
}

TEST(CommandsMisuse, an_unknown_command_or_option_names_the_nearest) {
  expect_said({"convrt"}, exit_misused, {"no command 'convrt'", "did you mean convert?"});
  expect_said({"load", "x", "--treads", "2"}, exit_misused,
              {"feedrate load: no option '--treads'", "did you mean --threads?"});
  expect_said({"convert", "mnist", "x", "--too=lmdb", "--out", "y"}, exit_misused,
              {"did you mean --to?"});
}

TEST(CommandsMisuse, missing_superfluous_and_invalid_arguments_are_named) {
  expect_said({"verify"}, exit_misused, {"PATH is required", "feedrate verify -h"});
  expect_said({"convert", "mnist", "x", "--out", "y"}, exit_misused, {"--to is required"});
  expect_said({"verify", "a", "b"}, exit_misused, {"one argument too many: 'b'"});
  expect_said({"verify", "--", "a", "-b"}, exit_misused, {"one argument too many: '-b'"});
  expect_said({"load", "--batch", "0", "--", "x"}, exit_misused, {"--batch"});
  const auto convert = [](const std::string& option, const std::string& value) {
    return std::vector<std::string>{"convert", "mnist", "x",    "--to", "lmdb",
                                    "--out",   "y",     option, value};
  };
  expect_said(convert("--encode", "jpg"), exit_misused, {"--encode", "no encoding 'jpg'"});
  expect_said(convert("--encode", "jpeg:101"), exit_misused, {"--encode", "from 1 to 100"});
  expect_said(convert("--resize", "0x1"), exit_misused, {"--resize", "cannot resize to '0x1'"});
  expect_said(convert("--part", "4/3"), exit_misused, {"--part: expected auto, or I/N", "'4/3'"});
  expect_said({"load", "x", "--threads", "two"}, exit_misused, {"--threads", "two"});
  expect_said({"load", "x", "--threads", "-1"}, exit_misused, {"--threads"});
  expect_said({"load", "x", "--batch", "0"}, exit_misused, {"--batch"});
  expect_said({"load", "x", "--epochs", "1", "--seconds", "2"}, exit_misused,
              {"--epochs and --seconds exclude one another"});
  expect_said({"train", "x", "--network", "lenet", "--resident", "--checkpoint", "y"}, exit_misused,
              {"--resident", " exclude one another"});
  expect_said({"train", "x", "--network", "lenet", "--no-upload"}, exit_misused,
              {"--no-upload needs --resident"});
  expect_said({"load", "x", "--batch"}, exit_misused, {"--batch needs a value: N"});
  expect_said({"load", "x", "--seed", "1", "--seed", "2"}, exit_misused,
              {"--seed takes one value, found 2"});
  expect_said({"load", "x", "--json=yes"}, exit_misused, {"--json takes no value"});
  expect_said({"load", "x", "--pixels", "f32", "--mean", "much"}, exit_misused,
              {"--mean: expected a number from 0 to 255, found 'much'"});
  expect_said({"load", "x", "--last", "dorp"}, exit_misused,
              {"--last: expected partial, drop, wrap or pad, found 'dorp'; did you mean drop?"});
}

TEST(CommandsMisuse, numbers_that_make_no_sense_are_refused_in_a_short_sentence) {
  const auto refused = [](const std::string& command, const std::vector<std::string>& option,
                          std::string_view expected) {
    std::vector<std::string> words{command, "x"};
    words.insert(words.end(), option.begin(), option.end());
    expect_said(words, exit_misused, {option.front() + ": expected " + std::string(expected)});
  };
  for (const char* number : {"0", "-1", "nan", "inf", "1e999", "much"}) {
    refused("load", {"--seconds", number}, "a number above 0, found");
    refused("load", {"--emulate", number}, "a number above 0, found");
  }
  refused("load", {"--threads", "4294967295"}, "a whole number from 0 to 256 or auto");
  refused("load", {"--seed", "-1"}, "a whole number of at least 0, found '-1'");
  refused("load", {"--epochs", "0"}, "a whole number from 1 to 1000000");
  refused("verify", {"--threads", "99999999999"}, "a whole number from 0 to 1024");
  refused("inspect", {"--samples", "-1"}, "a whole number of at least 0");
  refused("train", {"--lr", "nan", "--network", "lenet"}, "a number of at least 0, found 'nan'");
  refused("train", {"--steps", "0", "--network", "lenet"}, "a whole number of at least 1");
  refused("bench", {"--threads", "1,-1", "--out", "y"}, "a whole number from 0 to 256 or a range");
  refused("bench", {"--threads", "257", "--out", "y"}, "a whole number from 0 to 256 or a range");
  for (const char* limit : {"0", "-1", "99999999999999999999999"}) {
    expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--limit", limit},
                exit_misused, {"--limit: expected a whole number"});
  }
}

TEST(CommandsMisuse, a_list_of_numbers_may_have_ranges) {
  expect_said({"bench", "/no/such", "--threads", "0-2,4", "--dry-run"}, exit_failed,
              {"/no/such: there is no such file"});
  for (const char* wrong : {"4-2", "1-", "-3", "0-99999", "1-2-3", "0-2000"}) {
    expect_said({"bench", "x", "--threads", wrong, "--dry-run"}, exit_misused,
                {"--threads: expected"});
  }
  expect_said({"bench", "x", "--batch", "0-4", "--dry-run"}, exit_misused,
              {"--batch: expected a whole number from 1 to 65536 or a range such as 1-4"});
}

TEST(CommandsMisuse, an_unknown_name_is_answered_with_the_nearest_and_where_names_are_listed) {
  expect_said({"train", "x", "--network", "resnet"}, exit_misused,
              {"no network 'resnet'; did you mean resnet50?\n'feedrate list networks'"});
  expect_said({"train", "x", "--network", "lenet", "--device", "gpu"}, exit_misused,
              {"did you mean cuda?", "'feedrate list devices'"});
  expect_said({"load", "x", "--recipe", "imagenet"}, exit_misused,
              {"did you mean imagenet-train?"});
  expect_said({"convert", "mnist", "x", "--to", "lmbd", "--out", "y"}, exit_misused,
              {"no format 'lmbd'; there are lmdb,", "did you mean lmdb?"});
  expect_said({"convert", "mnits", "x", "--to", "lmdb", "--out", "y"}, exit_misused,
              {"did you mean mnist?"});
  expect_said({"train", "x", "--network", "lenet", "--device", "cpuu"}, exit_misused,
              {"did you mean cpu?"});
  expect_said({"train", "x", "--network", "lent"}, exit_misused, {"did you mean lenet?"});
  expect_said({"bench", "x", "--network", "mlp,lent", "--out", "y"}, exit_misused,
              {"did you mean lenet?"});
  expect_said({"list", "netwroks"}, exit_misused, {"did you mean networks?"});
  expect_said({"synth", "mnits", "--out", "y"}, exit_misused, {"did you mean mnist?"});
  expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--encode", "pgn"},
              exit_misused, {"did you mean png?"});
}

TEST(CommandsMisuse, a_name_that_depends_on_the_input_is_answered_with_the_nearest) {
  expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--split", "tset"},
              exit_misused, {"no split 'tset'", "did you mean test?"});
  expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--split", "val"},
              exit_misused, {"did you mean test?"});
}

TEST(CommandsFailure, an_absent_path_is_named_in_one_line_without_advice_that_does_not_fit) {
  for (const char* command : {"inspect", "verify", "load", "report", "mean", "index"}) {
    const Said said = feedrate({command, "/no/such/place"});
    EXPECT_EQ(said.code, exit_failed) << command;
    EXPECT_EQ(std::ranges::count(said.errors, '\n'), 1) << said.errors;
    EXPECT_NE(said.errors.find("/no/such/place"), std::string::npos) << said.errors;
  }
}

TEST(CommandsFailure, advice_names_the_command_that_helps) {
  const testing::TempDirectory empty;
  expect_said({"inspect", empty.path().string()}, exit_failed, {"'feedrate convert' makes one"});
  std::ofstream(empty / "rows.jsonl") << "{}\n";
  expect_said({"report", (empty / "rows.jsonl").string()}, exit_failed,
              {"'feedrate bench PATH… --out results.jsonl' writes results."});
}

TEST(CommandsFailure, a_full_disk_behind_stdout_is_not_success) {
  const Said said = run_program("sh", {"-c", testing::program_under_test() + " list > /dev/full"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("standard output"), std::string::npos) << said.errors;
}

TEST(CommandsFailure, closed_and_full_standard_streams_end_no_command_by_a_signal) {
  const auto code = [](const std::string& line) {
    return run_program("sh", {"-c", testing::program_under_test() + " " + line}).code;
  };
  EXPECT_EQ(code("list 2>&-"), exit_done);
  EXPECT_EQ(code("list <&- >&- 2>&-"), exit_failed);
  EXPECT_EQ(code("inspect /no/such/place 2>/dev/full"), exit_failed);
  EXPECT_EQ(code("convrt 2>&-"), exit_misused);
  EXPECT_EQ(code("2>/dev/full"), exit_misused);
}

TEST(CommandsList, every_registry_is_there_and_networks_carry_their_published_counts) {
  const Said names = feedrate({"list"});
  EXPECT_LE(std::ranges::count(names.output, '\n'), 20) << "the names of the lists alone";
  EXPECT_NE(names.output.find("\n  networks "), std::string::npos) << names.output;
  const Said said = feedrate({"list", "all"});
  EXPECT_EQ(said.code, exit_done);
  for (const char* part : {"sources", "formats", "codecs", "recipes", "networks", "optimizers",
                           "devices", "431,080 parameters, 2,293,000 multiply-adds"}) {
    EXPECT_NE(said.output.find(part), std::string::npos) << part << "\n" << said.output;
  }
}

TEST(CommandsList, devices_that_are_elsewhere_are_listed_and_a_users_own_among_them) {
  const testing::TempDirectory directory;
  const auto file = directory / "rates.json";
  std::ofstream(file) << R"([{"device": "Dream", "network": "lenet", "images_per_second": 5}])";
  const Said said = feedrate({"list", "devices", "--rates", file.string()});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  for (const char* name : {"  cpu ", "  h100 ", "  a100 ", "  dream "}) {
    EXPECT_NE(said.output.find(name), std::string::npos) << name << "\n" << said.output;
  }
  EXPECT_NE(
      feedrate({"list", "rates", "--rates", file.string()}).output.find("lenet: 5.00 images/s"),
      std::string::npos);
  EXPECT_EQ(feedrate({"list", "--rates", (directory / "missing").string()}).code, exit_failed);
}

}  // namespace
}  // namespace feedrate::tools
