// feedrate <command> …: finds the command, parses its options and runs it. An error becomes a
// message, a line of advice and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"
#include "formats/base/lost_pages.h"
#include "formats/base/reason.h"
#include "formats/base/stop.h"
#include "tools/console/advised_error.h"
#include "tools/console/bars.h"
#include "tools/console/build_info.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/terminal.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/misuse.h"
#include "tools/program/cli/overview.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/parser.hpp"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/topics.h"

namespace feedrate::tools {
using namespace formats;

namespace {

int misuse(std::string_view program, std::string_view problem, std::string_view advice) {
  complain(program, problem, advice);
  return exit_misused;
}

int failure(std::string_view program, std::string_view problem, std::string_view advice = "") {
  complain(program, problem, advice);
  return exit_failed;
}

std::string see_help(std::string_view program) {
  return fmt::format("Run '{} -h' for its usage.", program);
}

// If a standard stream is closed, the next file opened gets its number, and messages would be written
// into a dataset. /dev/null takes that number instead, opened in the wrong direction, so that using
// it fails as using the closed stream would.
void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int same =
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free number
  }
}

/// Moves what follows '--' to the parser of a command that runs another program.
void set_aside_command(CLI::App& app, std::vector<std::string>& arguments) {
  auto& parser = static_cast<Parser&>(app);
  const auto mark = std::ranges::find(arguments, "--");
  if (!parser.runs_command || mark == arguments.end()) return;
  parser.command.assign(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
}

// Another rank of a training, or the sender of samples, may have had the signal.
[[noreturn]] void die_of_stop() { die_of(stop_signal() != 0 ? stop_signal() : SIGTERM); }

int run(const Command& command, std::vector<std::string> arguments) {
  const std::string program = fmt::format("feedrate {}", command.name);
  name_console(program);
  const auto [app, work] = prepared(command);
  set_aside_command(*app, arguments);
  if (const std::string empty = empty_value(*app, arguments); !empty.empty()) {
    return misuse(program, empty, see_help(program));
  }
  try {
    // CLI11 takes the last one first.
    app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    print(brief_text(page_of(command), text_columns(STDOUT_FILENO)));
    return exit_done;
  } catch (const CLI::CallForAllHelp&) {
    print(help_text(page_of(command), text_columns(STDOUT_FILENO)));
    return exit_done;
  } catch (const std::exception& error) {
    const Misuse wrong = explain(*app, arguments, error);
    return misuse(program, wrong.problem, wrong.advice.empty() ? see_help(program) : wrong.advice);
  }
  // If a mapped file has shrunk, neither a result nor an error can be trusted.
  std::string lost;
  try {
    expect_outputs_apart(*app);
    const int status = work();
    lost = lost_pages_of_process();
    if (stop_requested()) die_of_stop();
    if (lost.empty()) return status;
  } catch (const Stopped&) {
    die_of_stop();
  } catch (const Misused& error) {
    return misuse(program, error.what(), see_help(program));
  } catch (const std::bad_alloc& error) {
    return failure(program, reason_of(error), "Try a smaller --batch or fewer --threads.");
  } catch (const std::exception& error) {
    lost = lost_pages_of_process();
    const auto* advised = dynamic_cast<const AdvisedError*>(&error);
    if (lost.empty()) {
      return failure(program, reason_of(error), advised == nullptr ? "" : advised->advice());
    }
  }
  return failure(program, lost, "The results cannot be trusted; run again on the complete file.");
}

/// "help", "help COMMAND" and "help TOPIC".
int run_help(std::span<const std::string> words) {
  const std::size_t columns = text_columns(STDOUT_FILENO);
  if (words.empty()) {
    print(overview(columns));
    return exit_done;
  }
  std::vector<std::string_view> names{"topics"};
  for (const Topic& topic : topics()) names.push_back(topic.name);
  for (const Command* command : commands()) names.push_back(command->name);
  if (words.size() > 1 || std::ranges::find(names, words.front()) == names.end()) {
    return misuse("feedrate", unknown_kind("command or topic", words.front(), names),
                  "'feedrate help topics' lists the topics.");
  }
  for (const Topic& topic : topics()) {
    if (topic.name == words.front()) print(topic.text(columns));
  }
  for (const Command* command : commands()) {
    if (command->name == words.front()) print(help_text(page_of(*command), columns));
  }
  if (words.front() == "topics") print(topics_text(columns));
  return exit_done;
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    say(overview(text_columns(STDERR_FILENO)));
    return exit_misused;
  }
  const std::string word = arguments.front();
  arguments.erase(arguments.begin());
  if (word == "help") return run_help(arguments);
  if (word == "--help" || word == "-h") return run_help({});
  if (word == "--version" || word == "-V") {
    print(version_text());
    return exit_done;
  }
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    if (command->name == word) return run(*command, arguments);
    names.push_back(command->name);
  }
  const bool option = word.starts_with('-');
  if (option) names = {"--help", "--version"};
  return misuse("feedrate", unknown_kind(option ? "option" : "command", word, names),
                see_help("feedrate"));
}

bool trains(std::span<char* const> words) {
  return words.size() > 1 &&
         (words[1] == std::string_view("train") || words[1] == std::string_view("time"));
}

/// Makes the threads of a trainer on the CPU spin for some 50 µs before they sleep. A step has
/// hundreds of shorter waits, and to wake a thread takes longer than most of them; threads that spin
/// for milliseconds, as they would by default, take cores from the loader. libgomp reads this from
/// the environment when the backend's plug-in is loaded. Does nothing where the user has set
/// GOMP_SPINCOUNT or OMP_WAIT_POLICY.
void spin_briefly() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "3000", 0);
}

}  // namespace
}  // namespace feedrate::tools

int main(int count, char** values) {
  feedrate::tools::block_signals();
  if (feedrate::tools::trains(std::span(values, static_cast<std::size_t>(count)))) {
    feedrate::tools::spin_briefly();
  }
  feedrate::tools::occupy_standard_streams();
  try {
    feedrate::tools::take_signals();
    return feedrate::tools::run(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    return feedrate::tools::failure("feedrate", feedrate::formats::reason_of(error));
  }
}
