#pragma once
// Runs the user's command with the probe in front of its PYTHONPATH.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::tools {

struct Ended {
  int code = 0;    // the command's own
  int signal = 0;  // that ended it; 0: none
};

/// The command cannot be started.
class NotStarted : public formats::Error {
 public:
  NotStarted(const std::string& problem, int code) : Error(problem), code_(code) {}
  /// What a shell would end with: 127 where there is no such command, else 126.
  int code() const { return code_; }

 private:
  int code_;
};

/// Where the command's stdout goes; `nowhere`: its stderr, too.
enum class OutputTo : std::uint8_t { our_stdout, our_stderr, nowhere };

/// Runs it and waits. It has this process's streams; signals are passed on to it. Throws NotStarted.
Ended run_with_probe(const std::vector<std::string>& command, const std::filesystem::path& probe,
                     OutputTo to);

}  // namespace feedrate::tools
