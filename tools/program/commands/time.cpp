#include <CLI/CLI.hpp>
#include <memory>

#include "tools/console/console.h"
#include "tools/lab/layers/layer_times.h"
#include "tools/lab/layers/pass_counts.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"

namespace feedrate::tools {
namespace {

struct TimeRequest {
  LayerTimesRequest request;
  bool all = false;
  bool passes = false;
  bool json = false;
};

std::function<int()> prepare_time(CLI::App& app) {
  auto options = std::make_shared<TimeRequest>();
  LayerTimesRequest& request = options->request;
  add_argument(app, "NETWORK", trainer::network_row, request.network)->required();
  add_option(app, loader::batch_row, request.batch);
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Approximate measuring time",
              .range = formats::above_zero},
             request.seconds);
  add_settings(app, request.device,
               {&request.device.name, &request.device.precision, &request.device.compute_threads});
  app.add_flag("--all", options->all, "Show every layer, in the order of the network");
  app.add_flag("--passes", options->passes, "Count the memory passes of a CUDA step; needs no GPU");
  add_option(app, loader::seed_row, request.seed);
  add_json(app, options->json);
  app.final_callback([&request] { check_compute_threads(request.device); });
  return [options] {
    if (options->passes) {
      const PassCountsRequest counted{options->request.network, options->request.device.precision,
                                      options->request.batch};
      print(options->json ? pass_counts_json(counted) : pass_counts_text(counted));
      return exit_done;
    }
    const LayerTimes times = time_layers(options->request);
    if (options->json) {
      print(times.json());
    } else {
      print(options->all ? times.text_of_all() : times.text());
    }
    return exit_done;
  };
}

}  // namespace

extern const Command time_command;
const Command time_command{
    .name = "time",
    .job = Job::measurement,
    .summary = "Time each layer of a network against the limits of the device",
    .description =
        R"(Train a network on one batch of noise and print each layer's time forward and backward, its
GFLOP/s and its share of the roofline: the least time that the device would need, divided
by the measured time.)",
    .details =
        R"(--all: Otherwise the sums of each operator and the ten costliest layers.
--passes: Nothing is timed: kernels and library calls of a step, and the bytes that they read and
write, are counted from the plan.)",
    .notes =
        R"(Times are medians over the steps. The limits of the device are measured in the same run, on
a GPU in the same precision. On a GPU, events between kernels take the times, which makes a step
slightly slower than in 'feedrate train'; a kernel that computes several layers counts as one of
them.)",
    .examples = R"(  feedrate time lenet
  feedrate time resnet50 --batch 8 --seconds 20
  feedrate time googlenet --batch 8 --all
  feedrate time resnet50 --batch 256 --device cuda --precision bf16
  feedrate time resnet50 --batch 8 --precision bf16 --passes
)",
    .prepare = prepare_time};

}  // namespace feedrate::tools
