// The command line: help, exit codes, suggested names. Runs the real binary.

#include "tools/cli/command.h"

#include <gtest/gtest.h>

#include <sstream>

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

TEST(CommandsHelp, every_command_explains_itself_on_stdout_and_exits_0) {
  for (const Command* command : commands()) {
    const Said said = feedrate({std::string(command->name), "--help"});
    EXPECT_EQ(said.code, exit_done) << command->name;
    EXPECT_EQ(said.errors, "") << command->name;
    for (const std::string_view part :
         {std::string_view("Usage: feedrate "), std::string_view("Examples:\n"),
          std::string_view("--help"), command->name, command->description}) {
      EXPECT_NE(said.output.find(part), std::string::npos) << command->name << ": " << part;
    }
  }
}

TEST(CommandsHelp, an_empty_value_is_misuse_and_not_no_value) {
  expect_said({"train", "absent", "--network", "lenet", "--checkpoint", ""}, exit_misused,
              {"--checkpoint: expected a value, found ''"});
  expect_said({"bench", "--plan", "", "--dry-run"}, exit_misused, {"--plan: expected a value"});
  expect_said({"load", ""}, exit_misused, {"PATH: expected a value"});
}

TEST(CommandsHelp, descriptions_of_options_stand_below_one_another) {
  constexpr std::size_t name_columns = 26;
  std::size_t seen = 0;
  for (const Command* command : commands()) {
    std::istringstream help(feedrate({std::string(command->name), "--help"}).output);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  -")) continue;
      ++seen;
      std::size_t columns = 0, at = 0;
      for (; at < line.size() && columns < name_columns; ++at) {
        columns += (line[at] & 0xC0) != 0x80 ? 1 : 0;
      }
      while (at < line.size() && (line[at] & 0xC0) == 0x80) ++at;
      if (at < line.size() && line[at - 1] == ' ') {
        EXPECT_NE(line[at], ' ') << line;
        continue;
      }
      EXPECT_EQ(line.find("  ", 2), std::string::npos) << line;  // a long name alone …
      std::getline(help, line);
      EXPECT_EQ(line.find_first_not_of(' '), name_columns) << line;  // … its description below
    }
  }
  EXPECT_GT(seen, 50U);
}

TEST(CommandsHelp, no_line_of_help_is_wider_than_a_common_terminal) {
  for (const Command* command : commands()) {
    const std::string help = feedrate({std::string(command->name), "--help"}).output;
    std::size_t columns = 0;
    for (const char c : help) {
      columns = c == '\n' ? 0 : columns + ((c & 0xC0) != 0x80 ? 1 : 0);
      ASSERT_LE(columns, 100U) << command->name << "\n" << help;
    }
  }
}

TEST(CommandsHelp, the_overview_names_every_command) {
  const Said said = feedrate({"--help"});
  EXPECT_EQ(said.code, exit_done);
  for (const Command* command : commands()) {
    EXPECT_NE(said.output.find(command->summary), std::string::npos) << command->name;
  }
}

TEST(CommandsHelp, version_names_the_build_and_the_libraries) {
  const Said said = feedrate({"--version"});
  EXPECT_EQ(said.code, exit_done);
  for (const char* part : {"feedrate ", "commit ", "compiler ", "LMDB 0", "oneDNN "}) {
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
  expect_said({"verify"}, exit_misused, {"PATH is required", "feedrate verify --help"});
  expect_said({"convert", "mnist", "x", "--out", "y"}, exit_misused, {"--to is required"});
  expect_said({"verify", "a", "b"}, exit_misused, {"one argument too many: 'b'"});
  expect_said({"load", "x", "--threads", "two"}, exit_misused, {"--threads", "two"});
  expect_said({"load", "x", "--threads", "-1"}, exit_misused, {"--threads"});
  expect_said({"load", "x", "--batch", "0"}, exit_misused, {"--batch"});
  expect_said({"load", "x", "--epochs", "1", "--seconds", "2"}, exit_misused,
              {"--seconds", "--epochs"});
  expect_said({"train", "x", "--network", "lenet", "--resident", "--checkpoint", "y"}, exit_misused,
              {"--checkpoint", "--resident"});
  expect_said({"train", "x", "--network", "lenet", "--no-upload"}, exit_misused,
              {"--no-upload", "--resident"});
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
  refused("load", {"--threads", "4294967295"}, "a whole number from 0 to 1024");
  refused("load", {"--seed", "-1"}, "a whole number of at least 0, found '-1'");
  refused("load", {"--epochs", "0"}, "a whole number from 1 to 1000000");
  refused("verify", {"--threads", "99999999999"}, "a whole number from 0 to 1024");
  refused("inspect", {"--samples", "-1"}, "a whole number of at least 0");
  refused("train", {"--lr", "nan", "--network", "lenet"}, "a number of at least 0, found 'nan'");
  refused("train", {"--steps", "0", "--network", "lenet"}, "a whole number of at least 1");
  refused("bench", {"--threads", "1,-1", "--out", "y"}, "a whole number from 0 to 1024");
  for (const char* limit : {"0", "-1", "99999999999999999999999"}) {
    expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--limit", limit},
                exit_misused, {"--limit: expected a whole number of at least 1"});
  }
}

TEST(CommandsFailure, an_unknown_kind_exits_1_with_the_nearest_name) {
  expect_said({"convert", "mnist", "x", "--to", "lmbd", "--out", "y"}, exit_failed,
              {"no format 'lmbd'; there are lmdb,", "did you mean lmdb?"});
  expect_said({"convert", "mnits", "x", "--to", "lmdb", "--out", "y"}, exit_failed,
              {"did you mean mnist?"});
  expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--encode", "pgn"},
              exit_failed, {"did you mean png?"});
  expect_said({"convert", "mnist", "x", "--to", "lmdb", "--out", "y", "--split", "tset"},
              exit_failed, {"no split 'tset'", "did you mean test?"});
  expect_said({"train", "x", "--network", "lenet", "--device", "cpuu"}, exit_failed,
              {"did you mean cpu?"});
  expect_said({"train", "x", "--network", "lent"}, exit_failed, {"did you mean lenet?"});
  expect_said({"bench", "x", "--network", "lent", "--out", "y"}, exit_failed,
              {"did you mean lenet?"});
  expect_said({"list", "netwroks"}, exit_failed, {"did you mean networks?"});
  expect_said({"synth", "mnits", "--out", "y"}, exit_failed, {"did you mean mnist?"});
}

TEST(CommandsFailure, a_path_that_is_no_dataset_is_named_with_a_line_of_advice) {
  for (const char* command : {"inspect", "verify", "load"}) {
    expect_said({command, "/no/such/place"}, exit_failed, {"/no/such/place", "feedrate"});
  }
  expect_said({"report", "/no/such/place"}, exit_failed, {"/no/such/place", "feedrate bench"});
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
  const Said said = feedrate({"list"});
  EXPECT_EQ(said.code, exit_done);
  for (const char* part : {"sources", "formats", "codecs", "recipes", "networks", "optimizers",
                           "devices", "431,080 parameters, 2,293,000 multiply-adds"}) {
    EXPECT_NE(said.output.find(part), std::string::npos) << part << "\n" << said.output;
  }
}

}  // namespace
}  // namespace feedrate::tools
