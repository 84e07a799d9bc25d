#pragma once
// A command of the program: its help texts, its options and its work. Commands are constants;
// prepare() creates the state of one invocation. The work may throw Error, which main() turns into
// a message and exit code 1; an AdvisedError (cli/advice.h) adds what to try next.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace feedrate::tools {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_misused = 2 };

/// What a command is for; the overview lists commands by it.
enum class Job : std::uint8_t { bottleneck, data, measurement, training, shell };

struct Command {
  std::string_view name;
  Job job;
  std::string_view summary;  // one imperative sentence, without a full stop
  /// One paragraph above the usage line, at most three lines of 80 columns.
  std::string_view description;
  /// The options of -h, in this order: "--threads --batch"; "": all but those of servers.
  std::string_view common{};
  /// What --help adds to options: entries "--option: sentences", each from the start of a line.
  std::string_view details{};
  /// What --help says below the options. An empty line ends a paragraph.
  std::string_view notes{};
  /// A few command lines to copy, at the end of the help; -h shows the first two. A backslash
  /// continues a line.
  std::string_view examples;
  /// Declares the options on `app` and returns the work, to be called once they are parsed. It
  /// returns the exit code.
  std::function<int()> (*prepare)(CLI::App& app);
};

/// All commands, in the order of help: by job.
std::span<const Command* const> commands();

}  // namespace feedrate::tools
