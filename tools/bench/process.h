#pragma once
// A measurement in a process of its own: this program again with other arguments, or another one.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::tools {

struct Finished {
  std::string output{};  // what it wrote to stdout
  std::string errors{};  // and to stderr, without its last newlines
  int code = 0;          // that it exited with
};

/// Runs `program` (a path, or a name that PATH finds) with `input` as its stdin, and waits for it.
/// Throws Error when it cannot be started or a signal ends it.
Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     std::string_view input = {});

/// Runs `feedrate <arguments…>` and waits for it. Throws Error with the last words of the process
/// when it does not exit with 0.
Finished run_self(const std::vector<std::string>& arguments);

/// The process that is being waited for; 0: none. Safe in a signal handler.
pid_t process_running();

}  // namespace feedrate::tools
