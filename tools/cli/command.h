#pragma once
// A command of the binary: what its help says, the options it takes, and what it does with them.
// Commands are stateless kinds; prepare() makes the state of one invocation. The command's work may
// throw Error, which main() turns into a sentence and exit code 1.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/kind.h"

namespace CLI {
class App;
}

namespace feedrate::tools {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_misused = 2 };

class Command : public formats::Kind {
 public:
  using formats::Kind::Kind;

  /// One paragraph at the head of the help; lines are wrapped by the author.
  virtual std::string_view description() const = 0;
  /// A few lines at the foot of the help that a reader can paste.
  virtual std::string_view examples() const = 0;
  /// One sentence under the message of an Error: what to try next.
  virtual std::string_view advice() const = 0;
  /// Declares the options on `app` and returns the work to do once they are parsed, whose result is
  /// the exit code.
  virtual std::function<int()> prepare(CLI::App& app) const = 0;
};

/// All commands, in the order of help.
std::span<const Command* const> commands();

}  // namespace feedrate::tools
