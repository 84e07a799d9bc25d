#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/run/layer_times.h"

namespace feedrate::tools {
namespace {

struct Options {
  LayerTimesRequest request;
  bool json = false;
};

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  LayerTimesRequest& request = options->request;
  app.add_option("NETWORK", request.network, "See 'feedrate list networks'")->required();
  add_batch(app, request.batch);
  check_positive(app.add_option("--seconds", request.seconds, "Spent on steps, about"))
      ->type_name("S")
      ->capture_default_str();
  add_name(app, "--device", request.device, "Where to train ('feedrate list devices')");
  add_precision(app, request.precision);
  add_threads(app, "--compute-threads", request.compute_threads,
              "Threads of a CPU trainer (default: every core)");
  add_seed(app, request.seed);
  add_json(app, options->json);
  return [options] {
    const LayerTimes times = time_layers(options->request);
    print(options->json ? times.json() : times.text());
    return exit_done;
  };
}

}  // namespace

extern const Command time_command;
const Command time_command{
    .name = "time",
    .summary = "Tells how long each layer of a network takes, and why",
    .description =
        R"(Trains a network on one batch of noise of its published shape and tells what each layer
takes forward and backward (medians over the steps), how many GFLOP/s that is, and its
share of the roofline: the least time that the layer's multiply-adds and its values'
way from memory and back need on this device, which is measured in the same run.
In bf16 the CPU leaves in fp32 the layers that would take longer.)",
    .examples = R"(  feedrate time lenet
  feedrate time resnet50 --batch 8 --seconds 20 --json
)",
    .advice =
        "'feedrate list networks' names networks; 'feedrate list devices' says what can be used.",
    .prepare = prepare};

}  // namespace feedrate::tools
