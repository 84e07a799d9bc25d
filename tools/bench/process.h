#pragma once
// A measurement in a process of its own: this program again, with other arguments.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace feedrate {

struct Finished {
  std::string output;  // what it wrote to stdout
};

/// Runs `feedrate <arguments…>` and waits for it. Throws Error with the last words of the process
/// when it does not exit with 0.
Finished run_self(const std::vector<std::string>& arguments);

/// The process that run_self waits for; 0: none. Safe in a signal handler.
pid_t process_running();

}  // namespace feedrate
