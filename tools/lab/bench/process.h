#pragma once
// Runs a measurement in a process of its own: this program again, or another one.

#include <string>
#include <string_view>
#include <vector>

namespace feedrate::tools {

struct Finished {
  std::string output{};  // written to stdout
  std::string errors{};  // written to stderr, without the last newlines
  int code = 0;          // exit code
};

/// Runs `program` (a path, or a name to find in PATH) with `input` as its stdin and waits for it.
/// One at a time; a signal that ends this process ends it too. Throws Error when it cannot be started
/// or is ended by a signal.
Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     std::string_view input = {});

/// Runs `feedrate <arguments…>` and waits for it. Throws Error with what it wrote to stderr when it
/// does not exit with 0.
Finished run_self(const std::vector<std::string>& arguments);

}  // namespace feedrate::tools
