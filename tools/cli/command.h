#pragma once
// A command of the binary: what its help says, the options it takes, and what it does with them.
// Commands are constants; prepare() makes the state of one invocation. The command's work may throw
// Error, which main() turns into a sentence and exit code 1.

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
  /// One paragraph at the head of the help; lines are wrapped by the author.
  std::string_view description;
  /// A few lines at the foot of the help that a reader can paste.
  std::string_view examples;
  /// One sentence under the message of an Error: what to try next.
  std::string_view advice;
  /// Declares the options on `app` and returns the work to do once they are parsed, whose result is
  /// the exit code.
  std::function<int()> (*prepare)(CLI::App& app);
};

/// All commands, in the order of help.
std::span<const Command* const> commands();

}  // namespace feedrate::tools
