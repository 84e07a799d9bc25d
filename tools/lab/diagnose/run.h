#pragma once
// Runs the user's command with the probe in front of its PYTHONPATH.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::tools {

struct Ended {
  int code = 0;    // the command's own
  int signal = 0;  // that ended it; 0: none
};

/// Where the command's stdout goes; `nowhere`: its stderr, too.
enum class OutputTo : std::uint8_t { our_stdout, our_stderr, nowhere };

/// Runs it and waits. It has this process's streams; signals are passed on to it. Throws Error when it cannot
/// be started.
Ended run_with_probe(const std::vector<std::string>& command, const std::filesystem::path& probe,
                     OutputTo to);

}  // namespace feedrate::tools
