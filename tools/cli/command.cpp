#include "tools/cli/command.h"

namespace feedrate::tools {

extern const Command convert_command;
extern const Command inspect_command;
extern const Command verify_command;
extern const Command mean_command;
extern const Command index_command;
extern const Command list_command;
extern const Command synth_command;
extern const Command fetch_command;
extern const Command load_command;
extern const Command train_command;
extern const Command time_command;
extern const Command bench_command;
extern const Command report_command;
extern const Command advise_command;

std::span<const Command* const> commands() {
  static const Command* const rows[] = {
      &convert_command, &inspect_command, &verify_command, &mean_command,   &index_command,
      &list_command,    &synth_command,   &fetch_command,  &load_command,   &train_command,
      &time_command,    &bench_command,   &report_command, &advise_command,
  };
  return rows;
}

}  // namespace feedrate::tools
