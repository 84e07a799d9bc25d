#include "tools/program/cli/command.h"

namespace feedrate::tools {

#define FEEDRATE_ROW(name) extern const Command name##_command;
#include "tools/program/commands/list.inc"
#undef FEEDRATE_ROW

std::span<const Command* const> commands() {
  static const Command* const rows[] = {
#define FEEDRATE_ROW(name) &name##_command,
#include "tools/program/commands/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

}  // namespace feedrate::tools
