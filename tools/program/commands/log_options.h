#pragma once
// The options for logs, the same in every command that writes logs.

#include <string>

#include "tools/lab/logs/logs.h"
#include "tools/program/cli/help.h"

namespace feedrate::tools {

/// Adds the option of one log, which stores its path in `paths`.
inline void add_log(CLI::App& app, const LogKind& log, LogPaths& paths) {
  add_output(app, "--" + std::string(log.name), paths[log.name], std::string(log.summary),
             std::string(log.place));
}

}  // namespace feedrate::tools
