#pragma once
// A command of the program: its help texts, its options and its work. Commands are constants;
// prepare() creates the state of one invocation. The work may throw Error, which main() turns into
// a message and exit code 1; an AdvisedError (cli/advice.h) adds what to try next.

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace feedrate::tools {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_misused = 2 };

struct Command {
  std::string_view name;
  std::string_view summary;  // one sentence, without a full stop
  /// At the head of the help, which wraps it. An empty line ends a paragraph; lines that begin with
  /// a blank stay as they are.
  std::string_view description;
  /// A few command lines to copy, at the end of the help; a backslash continues a line.
  std::string_view examples;
  /// Declares the options on `app` and returns the work, to be called once they are parsed. It
  /// returns the exit code.
  std::function<int()> (*prepare)(CLI::App& app);
};

/// All commands, in the order of help.
std::span<const Command* const> commands();

}  // namespace feedrate::tools
