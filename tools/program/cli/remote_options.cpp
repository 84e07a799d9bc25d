#include "tools/program/cli/remote_options.h"

#include <CLI/CLI.hpp>

#include "formats/remote/settings.h"
#include "tools/program/cli/help.h"

namespace feedrate::tools {

void add_remote_options(CLI::App& app) {
  for (const formats::BoundSetting& one : formats::bound_settings(formats::remote_settings())) {
    add_option(app, one)->group("Servers");
  }
}

}  // namespace feedrate::tools
