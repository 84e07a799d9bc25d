#include "tools/program/cluster/status.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "tools/console/console.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {

namespace {

struct StatusRequest {
  std::filesystem::path path;
  bool json = false;
};

int run_status(const StatusRequest& options) {
  const ConversionStatus status = status_of(options.path);
  print(options.json ? status_json(status) : status_text(status));
  return exit_done;
}

std::function<int()> prepare_status(CLI::App& app) {
  auto options = std::make_shared<StatusRequest>();
  add_input(app, "PATH", options->path, "What was given to 'feedrate convert' as --out")
      ->required();
  add_json(app, options->json);
  return [options] { return run_status(*options); };
}

}  // namespace

extern const Command status_command;
const Command status_command{
    .name = "status",
    .summary = "Shows how far a conversion by several processes is",
    .description =
        R"(Counts the pieces of a conversion that mpirun, srun or the tasks of a Slurm array make:
done, running, failed (begun, but no process is at it) and waiting, with the rate and the
time left. It looks only at the directories beside PATH, from any machine that sees them.
With --split all, PATH is that of one split. To go on after a failure, run the same
'feedrate convert' again.)",
    .examples = R"(  feedrate status data/imagenet
)",
    .prepare = prepare_status};

}  // namespace feedrate::tools
