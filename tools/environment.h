#pragma once
// The machine and the build behind a measurement: what a reader needs to judge a row or repeat it.

#include <cstdint>
#include <optional>
#include <string>

namespace feedrate {

struct Environment {
  std::string cpu;               // model name
  unsigned cores = 0;            // that this process may use
  std::uint64_t memory_mib = 0;  // of the machine
  std::string os;                // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;            // "Linux 6.1.0"
  std::string compiler;
  std::string build_type;
  std::string flags;
  std::string commit;
  std::string version;
  std::optional<std::string> gpu;  // absent: none, or its driver cannot be asked
  std::string command;             // the command line that measured
  std::string time;                // UTC, ISO 8601
};

/// The environment of this process, now. `command` is kept as given.
Environment describe_environment(std::string command);

/// The command line of this process, as one would type it.
std::string command_line();

}  // namespace feedrate
