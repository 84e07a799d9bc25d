#pragma once
// The options for logs, the same in every command that writes logs.

#include <string>

#include "tools/lab/logs/logs.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {

/// Adds the option of one log, which stores its path in `paths`.
inline void add_log(CLI::App& app, const LogKind& log, LogPaths& paths) {
  add_output(app,
             {.name = "--" + std::string(log.name),
              .description = std::string(log.summary),
              .use = log.place == "DIR" ? PathUse::fills
                     : log.replaces     ? PathUse::replaces
                                        : PathUse::writes},
             paths[log.name]);
}

}  // namespace feedrate::tools
