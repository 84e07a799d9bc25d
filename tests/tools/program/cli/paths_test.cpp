// No output of any command is written over what the command reads: all commands, their outputs and
// their inputs, as their options declare them, so that a new option is tested as soon as it exists.

#include "tools/program/cli/paths.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>

#include "formats/crops/crop_index.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/parser.hpp"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// An option's name and value; of an argument, the value alone.
Words words_of(const CLI::Option& option, const std::string& value) {
  if (option.get_positional()) return {value};
  return {option.get_name(), value};
}

bool is_directory_output(PathUse use) { return use == PathUse::creates || use == PathUse::fills; }

class UnitPaths : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("lmdb"), raw_codec, at("set"), make_examples({28, 28, 1}, 3));
    std::ofstream(at("set/feedrate.crops")) << "index";
    write_dataset(container("recordio"), png_codec, at("files"), make_examples({28, 28, 1}, 3));
    std::ofstream(at("file")) << "0\n";
    for (const std::string of : {"set/data.mdb", "file"}) {
      const std::string name = fs::path(of).filename();
      fs::create_hard_link(at(of), at("hard-" + name));
      fs::create_symlink(of, at("soft-" + name));
    }
    fs::create_symlink("set/new", at("leads-into"));
    fs::create_directory_symlink("set", at("other-way"));
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  /// Reads these words, whatever else the command would need.
  static void parse(CLI::App& app, Words words) {
    std::ranges::reverse(words);
    try {
      app.parse(words);
    } catch (const std::exception&) {
      // Options are read before it is found that others are missing.
    }
  }

  /// The words with which a command reads `path` by that option.
  Words reading(const Command& command, const CLI::Option& option, const std::string& path) const {
    const std::string name = option.get_name();
    Words words;
    if (command.name == "convert") words = {"folder"};  // reads everything in a directory
    if (name == "--from") words = {"mnist"};            // reads files of these names
    std::string value = path;
    if (name == "--mix") value += ":1";
    if (name == "--plan") {
      value = at("plan.json");
      std::ofstream(value) << "{\"datasets\": [\"" << path << "\"]}";
    }
    const Words named = words_of(option, value);
    words.insert(words.end(), named.begin(), named.end());
    return words;
  }

  /// Calls `visit(command, output, input)` for all of them.
  static void for_each_pair(
      const std::function<void(const Command&, const PathOption&, const PathOption&)>& visit) {
    for (const Command* command : commands()) {
      const Prepared made = prepared(*command);
      const std::vector<PathOption>& paths = static_cast<const Parser&>(*made.app).paths;
      for (const PathOption& output : paths) {
        for (const PathOption& input : paths) {
          if (output.use != PathUse::reads && input.use == PathUse::reads) {
            visit(*command, output, input);
          }
        }
      }
    }
  }

  void expect_refused(const Command& command, Words words,
                      std::initializer_list<std::string_view> parts) const {
    std::string line(command.name);
    for (const std::string& word : words) line += " " + word;
    SCOPED_TRACE(line);
    const Prepared made = prepared(command);
    parse(*made.app, std::move(words));
    expect_error([&] { expect_outputs_apart(*made.app); }, parts);
  }
  static void expect_taken(const Command& command, Words words) {
    const Prepared made = prepared(command);
    parse(*made.app, std::move(words));
    EXPECT_NO_THROW(expect_outputs_apart(*made.app)) << command.name;
  }
  /// The words of an input and of an output.
  Words both(const Command& command, const PathOption& input, const std::string& read,
             const PathOption& output, const std::string& written) const {
    Words words = reading(command, *input.option, read);
    for (const std::string& word : words_of(*output.option, written)) words.push_back(word);
    return words;
  }

  static const Command& command(std::string_view name) {
    return **std::ranges::find(commands(), name, &Command::name);
  }

 private:
  TempDirectory directory_;
};

TEST_F(UnitPaths, every_option_that_takes_a_path_says_what_it_does_with_it) {
  for (const Command* command : commands()) {
    const Prepared made = prepared(*command);
    for (const OptionRow& row : page_of(*command).rows) {
      if (row.place == OptionRow::Place::none) continue;
      const auto& parser = static_cast<const Parser&>(*made.app);
      if (parser.runs_command && row.names.back() == "COMMAND")
        continue;  // another program's words
      const auto& paths = parser.paths;
      const CLI::Option* option = made.app->get_option(row.names.back());
      EXPECT_NE(std::ranges::find(paths, option, &PathOption::option), paths.end())
          << command->name << " " << row.names.back();
    }
  }
}

TEST_F(UnitPaths, no_output_is_a_dataset_that_is_read_or_one_of_its_files) {
  std::size_t pairs = 0;
  for_each_pair([&](const Command& command, const PathOption& output, const PathOption& input) {
    if (input.option->get_name() == "--from") return;  // takes files of known names alone
    Words targets{at("set"), at("set/new"), at("other-way/deep/new")};
    if (!is_directory_output(output.use)) {
      targets = {at("set/data.mdb"),      at("set/lock.mdb"), at("set/feedrate.crops"),
                 at("set/feedrate.json"), at("set/new"),      at("hard-data.mdb"),
                 at("soft-data.mdb"),     at("other-way/new")};
      if (output.use == PathUse::writes) targets.push_back(at("leads-into"));
    }
    if (output.use == PathUse::creates) targets.push_back(fs::path(at("set")).parent_path());
    for (const std::string& target : targets) {
      ++pairs;
      expect_refused(command, both(command, input, at("set"), output, target),
                     {target + ": ", output.option->get_name() + " would ",
                      input.option->get_name() + " reads"});
    }
  });
  EXPECT_GT(pairs, 150U);
}

TEST_F(UnitPaths, no_output_is_a_file_that_is_read) {
  std::ofstream(at("whole.new")) << "0\n";
  for_each_pair([&](const Command& command, const PathOption& output, const PathOption& input) {
    if (is_directory_output(output.use)) return;
    const std::string& over = output.option->get_name();
    const std::string& reads = input.option->get_name();
    if (reads == "--from") return;  // reads a directory
    for (const char* target : {"file", "hard-file", "soft-file"}) {
      const Words words = both(command, input, at("file"), output, at(target));
      if (reads == output.may_replace) {
        expect_taken(command, words);
      } else {
        expect_refused(command, words, {at(target) + ": ", over + " would ", reads + " reads"});
      }
    }
    if (output.use != PathUse::replaces) return;  // the name of a file until it is whole
    expect_refused(command, both(command, input, at("whole.new"), output, at("whole")),
                   {at("whole") + ": ", over + " would ", reads + " reads"});
  });
}

TEST_F(UnitPaths, no_two_outputs_have_one_name) {
  for (const Command* command : commands()) {
    const Prepared made = prepared(*command);
    std::vector<PathOption> outputs = static_cast<const Parser&>(*made.app).paths;
    std::erase_if(outputs, [](const PathOption& one) { return one.use == PathUse::reads; });
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      const std::string first = outputs[i - 1].option->get_name();
      const std::string second = outputs[i].option->get_name();
      for (const auto& [one, other] : {std::pair("new", "new"), std::pair("file", "hard-file"),
                                       std::pair("new", "set/../new")}) {
        expect_refused(*command, {first, at(one), second, at(other)},
                       {at(other) + ": ", first + " and " + second + " would both write it"});
      }
      expect_taken(*command, {first, "/dev/null", second, "/dev/null"});
    }
  }
}

TEST_F(UnitPaths, outputs_beside_what_is_read_are_taken) {
  for_each_pair([&](const Command& command, const PathOption& output, const PathOption& input) {
    for (const char* target : {"new", "set-new"}) {
      expect_taken(command, both(command, input, at("set"), output, at(target)));
    }
    if (is_directory_output(output.use)) return;
    expect_taken(command, both(command, input, at("set"), output, "/dev/null"));
    expect_taken(command, both(command, input, at("set"), output, at("file")));
  });
  // What is published has known names; other files may lie beside it.
  expect_taken(command("convert"), {"mnist", at("set"), "--out", at("set/lmdb")});
  expect_taken(command("fetch"), {"mnist", "--from", at("set"), "--out", at("set")});
}

TEST_F(UnitPaths, the_other_files_of_a_dataset_that_a_file_names_are_its_own) {
  const Command& inspect = command("inspect");
  const std::string file = at("files/data.rec");
  for (const char* name : {"files/data.idx", "files/data.lst", "files/data.rec.crops"}) {
    expect_refused(inspect, {file, "--sheet", at(name)}, {at(name), "--sheet", "PATH"});
  }
  std::ofstream(at("files/sheet.png")) << "an earlier one";
  expect_taken(inspect, {file, "--sheet", at("files/sheet.png")});
  // A map names images anywhere.
  fs::create_directory(at("map"));
  std::ofstream(at("map/train_map.txt")) << at("image.png") << "\t0\n";
  Buffer png;
  png_codec.encode(make_image({28, 28, 1}, 0), png);
  std::ofstream(at("image.png"))
      .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  expect_refused(inspect, {at("map"), "--sheet", at("image.png")},
                 {at("image.png"), "would write over a file of", "map"});
}

TEST_F(UnitPaths, the_program_refuses_before_it_writes) {
  const std::uintmax_t before = fs::file_size(at("set/data.mdb"));
  const Said said = feedrate({"inspect", at("set"), "--sheet", at("set/data.mdb")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_EQ(said.errors, "feedrate inspect: " + at("set/data.mdb") + ": --sheet would write into " +
                             at("set") + ", which PATH reads\n");
  EXPECT_EQ(fs::file_size(at("set/data.mdb")), before);
}

}  // namespace
}  // namespace feedrate::tools
