// feedrate <command> …: finds the command, parses its options, and turns what goes wrong into a
// sentence, a line of advice and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "formats/io/lost_pages.h"
#include "tools/cli/build_info.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"

namespace feedrate::tools {
using namespace formats;

namespace {

std::string overview() {
  std::string text =
      "feedrate: image data from a published archive to the trainer, and how fast it gets "
      "there.\n\n"
      "Usage: feedrate COMMAND …        feedrate COMMAND --help tells everything about one\n\n"
      "Commands:\n";
  for (const Command* command : commands()) {
    text += fmt::format("  {:<9}{}\n", command->name, command->summary);
  }
  return text +
         "\nThe usual way, with the files of MNIST or of one of its relatives in archives/:\n"
         "  feedrate convert mnist archives --to lmdb --split all --out data/lmdb\n"
         "  feedrate verify data/lmdb/train\n"
         "  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1\n"
         "  feedrate bench data/lmdb/train --network lenet --threads 0,1,2,4 --out results.jsonl\n"
         "  feedrate report results.jsonl --html report.html\n";
}

// Never throws: where nobody listens to errors, the exit code still tells.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

int misuse(std::string_view program, std::string_view problem, std::string_view help) {
  say(fmt::format("{}: {}\n{} tells what there is.\n", program, problem, help));
  return exit_misused;
}

int failure(std::string_view program, std::string_view problem, std::string_view advice) {
  say(fmt::format("{}: {}\n{}\n", program, problem, advice));
  return exit_failed;
}

/// What was wrong with the arguments, with the nearest option when one was unknown.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option also looks like a missing one: the spelling is the better news.
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

// An interrupted command leaves the cursor on a line of its own, then dies of the signal: the shell
// and a bench above it see what happened. Whatever was being written is still only a .partial.
extern "C" void on_interrupt(int signal) {
  if (isatty(STDERR_FILENO) == 1) {
    [[maybe_unused]] const auto ignored = write(STDERR_FILENO, "\n", 1);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A standard stream that was closed leaves its number to the next file opened, and what is meant
// for the terminal would end in a dataset. Its stand-in is open the wrong way round, so that using
// it fails as using a closed one does.
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
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes a stack
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    return misuse(program, what_is_wrong(app, error), program + " --help");
  }
  // What came of a file that shrank is worthless, whether it looks like a result or like damage.
  std::string lost;
  try {
    const int status = work();
    lost = lost_pages_of_process();
    if (lost.empty()) return status;
  } catch (const std::bad_alloc&) {
    return failure(program, "out of memory", "A smaller --batch or fewer --threads need less.");
  } catch (const std::exception& error) {
    lost = lost_pages_of_process();
    if (lost.empty()) return failure(program, error.what(), command.advice);
  }
  return failure(program, lost, "Results from it are of no use; run again on the whole file.");
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
  std::signal(SIGINT, feedrate::tools::on_interrupt);
  try {
    return feedrate::tools::run(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    return feedrate::tools::failure("feedrate", error.what(), "Where output goes must take it.");
  }
}
