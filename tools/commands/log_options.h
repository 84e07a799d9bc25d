#pragma once
// The options that ask for logs, the same for every command that keeps them.

#include <string>

#include "tools/cli/help.h"
#include "tools/logs/logs.h"

namespace feedrate::tools {

/// The option of one log, which puts its path among `paths`.
inline void add_log(CLI::App& app, const LogKind& log, LogPaths& paths) {
  add_output(app, "--" + std::string(log.name), paths[log.name], std::string(log.summary),
             std::string(log.place));
}

}  // namespace feedrate::tools
