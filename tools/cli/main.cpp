// feedrate <command> …: finds the command, parses its options and runs it. An error becomes a
// message, a line of advice and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "formats/base/stop.h"
#include "formats/io/lost_pages.h"
#include "tools/cli/build_info.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/cli/signals.h"

namespace feedrate::tools {
using namespace formats;

namespace {

std::string overview() {
  std::string text =
      "feedrate: converts image datasets, loads them, trains networks, and measures the rates.\n\n"
      "Usage: feedrate COMMAND …        feedrate COMMAND --help explains a command\n\n"
      "Commands:\n";
  for (const Command* command : commands()) {
    text += fmt::format("  {:<9}{}\n", command->name, command->summary);
  }
  return text +
         "\nA typical session, with the files of MNIST or of Fashion-MNIST in archives/:\n"
         "  feedrate convert mnist archives --to lmdb --split all --out data/lmdb\n"
         "  feedrate verify data/lmdb/train\n"
         "  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1\n"
         "  feedrate bench data/lmdb/train --network lenet --threads 0,1,2,4 --out results.jsonl\n"
         "  feedrate report results.jsonl --html report.html\n";
}

// Never throws: if stderr is closed, the exit code still reports the failure.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

int misuse(std::string_view program, std::string_view problem, std::string_view help) {
  say(fmt::format("{}: {}\nRun '{}' for its usage.\n", program, problem, help));
  return exit_misused;
}

int failure(std::string_view program, std::string_view problem, std::string_view advice) {
  say(fmt::format("{}: {}\n{}\n", program, problem, advice));
  return exit_failed;
}

/// What is wrong with the arguments. For an unknown option, suggests the nearest one.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option also looks like a missing one; the misspelling is the better explanation.
  const std::vector<std::string> extras = app.remaining();
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& one) { return one.starts_with('-'); });
  if (option == extras.end()) {
    const bool superfluous = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return superfluous ? fmt::format("one argument too many: '{}'", extras.front()) : error.what();
  }
  const std::vector<std::string> known = option_names(app);
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string typed = option->substr(0, option->find('='));
  const std::string_view nearest = nearest_name(typed, names);
  return fmt::format("no option '{}'{}", typed,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

// The next file to be opened would get the number of a closed standard stream, and messages would
// end in a dataset. So /dev/null takes the place of a closed stream, opened in the wrong direction:
// using it fails, as using a closed stream does.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int same =
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free number
  }
}

int run(const Command& command, std::vector<std::string> arguments) {
  const std::string program = fmt::format("feedrate {}", command.name);
  name_console(program);
  CLI::App app("", program);
  set_help(app, command);
  const std::function<int()> work = command.prepare(app);
  refuse_empty_values(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last one first
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    return misuse(program, what_is_wrong(app, error), program + " --help");
  }
  // If a mapped file has shrunk, neither a result nor an error can be trusted.
  std::string lost;
  try {
    const int status = work();
    lost = lost_pages_of_process();
    if (const int signal = stop_signal()) die_of(signal);
    if (lost.empty()) return status;
  } catch (const Stopped&) {
    die_of(stop_signal());
  } catch (const std::bad_alloc&) {
    return failure(program, "out of memory", "Try a smaller --batch or fewer --threads.");
  } catch (const std::exception& error) {
    lost = lost_pages_of_process();
    if (lost.empty()) return failure(program, error.what(), command.advice);
  }
  return failure(program, lost, "The results cannot be trusted; run again on the complete file.");
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    say(overview());
    return exit_misused;
  }
  const std::string word = arguments.front();
  arguments.erase(arguments.begin());
  if (word == "--help" || word == "-h" || word == "help") {
    print(overview());
    return exit_done;
  }
  if (word == "--version") {
    print(version_text());
    return exit_done;
  }
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    if (command->name == word) return run(*command, std::move(arguments));
    names.push_back(command->name);
  }
  names.insert(names.end(), {"--help", "--version"});
  return misuse("feedrate", unknown_kind("command", word, names), "feedrate --help");
}

}  // namespace
}  // namespace feedrate::tools

int main(int count, char** values) {
  feedrate::tools::occupy_standard_streams();
  feedrate::tools::handle_signals();
  try {
    return feedrate::tools::run(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    return feedrate::tools::failure("feedrate", error.what(),
                                    "Check that standard output can be written.");
  }
}
