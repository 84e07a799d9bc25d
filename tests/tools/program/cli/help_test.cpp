// Help of the program and of each command: what a reader finds in it, and that it fits.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/places.h"
#include "tests/support/run_program.h"
#include "tools/console/bars.h"
#include "tools/program/cli/overview.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/topics.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::run_program;
using testing::Said;

TEST(CommandsHelp, every_command_explains_itself_on_stdout_and_exits_0) {
  for (const Command* command : commands()) {
    const Said said = feedrate({std::string(command->name), "--help"});
    EXPECT_EQ(said.code, exit_done) << command->name;
    EXPECT_EQ(said.errors, "") << command->name;
    for (const std::string_view part :
         {std::string_view("Usage: feedrate "), std::string_view("Examples:\n"),
          std::string_view("--help"), command->name}) {
      EXPECT_NE(said.output.find(part), std::string::npos) << command->name << ": " << part;
    }
  }
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

/// The help of `command` with this in its environment: "COLUMNS=60".
std::string help_in(const std::string& environment, std::string_view command) {
  const std::string line = "env -u COLUMNS " + environment + " " + testing::program_under_test() +
                           " " + std::string(command) + " --help";
  return run_program("sh", {"-c", line}).output;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(CommandsHelp, text_is_wrapped_to_the_width_and_loses_no_word) {
  for (const Command* command : commands()) {
    for (const std::size_t width : {60U, 80U, 100U}) {
      const std::string help = help_in("COLUMNS=" + std::to_string(width), command->name);
      for (const std::string_view text : {command->description, command->notes}) {
        EXPECT_NE(without_blanks(help).find(without_blanks(std::string(text))), std::string::npos)
            << help;
      }
      std::istringstream lines(help);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), width) << line;
    }
  }
  EXPECT_EQ(help_in("", "train"), help_in("COLUMNS=80", "train")) << "in a pipe";
}

TEST(CommandsHelp, an_example_that_was_wrapped_is_still_one_command) {
  const std::string help = help_in("COLUMNS=60", "bench");
  EXPECT_NE(help.find(" \\\n      "), std::string::npos) << help;
  const std::string examples = help.substr(help.find("Examples:\n") + 10);
  const Said said = run_program("sh", {"-c", "feedrate() { echo \"$# $1\"; }\n" + examples});
  EXPECT_EQ(said.errors, "");
  std::istringstream lines(said.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.ends_with(" bench")) << line;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(CommandsHelp, a_screen_of_50_lines_holds_every_short_help) {
  constexpr std::size_t screen = 50;
  const std::vector<std::string> overview = lines_of(feedrate({"--help"}).output);
  EXPECT_LE(overview.size(), screen);
  for (const std::string& line : overview) EXPECT_LE(columns_of(line), 80U) << line;
  EXPECT_EQ(feedrate({"-h"}).output, feedrate({"--help"}).output);
  for (const Command* command : commands()) {
    const std::vector<std::string> lines =
        lines_of(feedrate({std::string(command->name), "-h"}).output);
    EXPECT_LE(lines.size(), screen) << command->name;
    const auto usage = std::ranges::find_if(
        lines, [](const std::string& line) { return line.starts_with("Usage: "); });
    EXPECT_LE(usage - lines.begin(), 4) << command->name << ": more than three lines before Usage";
    bool option = false;
    for (const std::string& line : lines) {
      EXPECT_FALSE(option && line.starts_with("      "))
          << command->name << ": an option of more than one line: " << line;
      option = line.starts_with("  -");
    }
    const auto examples = std::ranges::find(lines, "Examples:");
    EXPECT_GE(lines.end() - examples, 2) << command->name;
  }
}

TEST(CommandsHelp, the_readme_fits_a_pages_width_and_is_read_within_minutes) {
  std::ifstream file(testing::source_directory() / "README.md");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines)
    EXPECT_LE(columns_of(line), 98U) << line;
  EXPECT_GT(lines, 50U);
  EXPECT_LE(lines, 120U);
}

TEST(CommandsHelp, a_row_can_be_read_alone) {
  for (const Command* command : commands()) {
    for (const OptionRow& row : page_of(*command).rows) {
      const std::string& text = row.description;
      EXPECT_FALSE(text.starts_with("And ") || text.starts_with("Or ")) << command->name << text;
      EXPECT_FALSE(text.starts_with(row.value + ":") && !row.value.empty())
          << command->name << " repeats " << row.value << ": " << text;
      EXPECT_NE(row.value, "TEXT") << command->name << ": " << row.names.back();
      EXPECT_FALSE(text.empty()) << command->name << ": " << row.names.back();
    }
  }
}

TEST(CommandsHelp, the_long_help_has_the_options_in_groups_and_explains_the_common_ones_first) {
  const std::string help = feedrate({"load", "--help"}).output;
  std::size_t at = 0;
  for (const char* heading : {"\nArguments:\n", "\nCommon options:\n", "\nData order:\n",
                              "\nPixels:\n", "\nFaults:\n", "\nOutput:\n", "\nServers:\n"}) {
    const std::size_t found = help.find(heading);
    ASSERT_NE(found, std::string::npos) << heading;
    EXPECT_GT(found, at) << heading;
    at = found;
  }
  const std::size_t cold = help.find("\n  --cold "), next = help.find("\n  --", cold + 1);
  EXPECT_NE(without_blanks(help.substr(cold, next - cold)).find("stillinmemory"), std::string::npos)
      << "the explanation of --cold stands in its row";
  EXPECT_LT(help.find("\n  --threads "), help.find("\n  --seed ")) << "common options come first";
  EXPECT_EQ(feedrate({"load", "-h"}).output.find("--connections"), std::string::npos);
}

TEST(CommandsHelp, topics_are_listed_and_each_has_a_text) {
  const std::string listed = feedrate({"help", "topics"}).output;
  EXPECT_GE(topics().size(), 5U);
  for (const Topic& topic : topics()) {
    EXPECT_NE(listed.find("\n  " + std::string(topic.name) + " "), std::string::npos) << listed;
    const Said said = feedrate({"help", std::string(topic.name)});
    EXPECT_EQ(said.code, exit_done) << topic.name;
    EXPECT_GT(lines_of(said.output).size(), 5U) << topic.name;
  }
}

TEST(CommandsHelp, the_overview_names_every_command) {
  const Said said = feedrate({"--help"});
  EXPECT_EQ(said.code, exit_done);
  for (const Command* command : commands()) {
    EXPECT_NE(said.output.find("\n  " + std::string(command->name) + " "), std::string::npos);
    EXPECT_NE(said.output.find("\n" + std::string(job_heading(command->job)) + ":\n"),
              std::string::npos);
    EXPECT_NE(without_blanks(said.output).find(without_blanks(std::string(command->summary))),
              std::string::npos)
        << command->name;
  }
}

}  // namespace
}  // namespace feedrate::tools
