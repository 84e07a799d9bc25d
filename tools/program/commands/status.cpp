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
  add_input(app, "PATH", options->path, "The --out directory of 'feedrate convert'")->required();
  add_json(app, options->json);
  return [options] { return run_status(*options); };
}

}  // namespace

extern const Command status_command;
const Command status_command{
    .name = "status",
    .job = Job::data,
    .summary = "Show progress of a multi-process conversion",
    .description =
        R"(Count the finished, running, failed and waiting pieces of a conversion by mpirun, srun or a
Slurm array, with the rate and the time left. Works on any machine that sees PATH. After a
failure, run the same 'feedrate convert' again.)",
    .notes =
        R"(A piece has failed if it was begun and no process works on it any more. With --split all,
PATH is the directory of one split.)",
    .examples = R"(  feedrate status data/imagenet
)",
    .prepare = prepare_status};

}  // namespace feedrate::tools
