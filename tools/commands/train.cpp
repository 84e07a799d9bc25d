#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/commands/log_options.h"
#include "tools/run/forward.h"
#include "tools/run/train_report.h"
#include "tools/run/training.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

struct Options {
  TrainingRequest request;
  bool json = false;
};

template <class Report>
int show(const Options& options, const Report& report) {
  if (world().rank() == 0)
    print(options.json ? to_json(options.request, report) : to_text(options.request, report));
  return exit_done;
}

int run(Options& options) {
  complete(options.request);
  if (world().rank() != 0) mute_notes();
  for (const LogKind& log : log_kinds) {
    if (options.request.mode == "train" || options.request.logs[log.name].empty()) continue;
    throw Error(
        join("--", log.name, " follows a training; --mode ", options.request.mode, " is none"));
  }
  return options.request.mode == "train" ? show(options, run_training(options.request))
                                         : show(options, run_forward(options.request));
}

void add_data_options(CLI::App& app, TrainingRequest& request) {
  app.add_option("PATH", request.path, "The dataset to train on")->required();
  auto* network =
      add_name(app, "--network", request.network, "Network: see 'feedrate list networks'");
  auto* preset = add_name(app, "--preset", request.preset,
                          "A known way to train one: see 'feedrate list presets'");
  app.final_callback([network, preset] {
    if (network->empty() && preset->empty()) throw CLI::RequiredError("--network or --preset");
  });
  add_name(app, "--mode", request.mode, "train, infer or features");
  app.add_option("--val", request.validation, "Measure accuracy on this dataset at the end")
      ->type_name("PATH");
  check_whole(app.add_option("--val-every", request.val_every, "And after every so many epochs")
                  ->needs("--val")
                  ->type_name("N"),
              1);
  add_name(app, "--recipe", request.recipe, "Augmentation (default: the preset's, or none)");
  app.add_flag("--resident", request.resident,
               "Repeat a few batches held in memory: what the trainer can take");
  app.add_flag_callback(
         "--no-upload", [&request] { request.uploads = false; },
         "And keep two of them on the device: without copies to it")
      ->needs("--resident");
  app.add_flag("--cold", request.cold,
               "Have the system forget the dataset first: it comes from the disk")
      ->excludes("--resident");
}

void add_length_options(CLI::App& app, TrainingRequest& request) {
  auto* epochs = app.add_option("--epochs", request.epochs,
                                "Passes over the dataset (default: the preset's, or 1)")
                     ->type_name("N");
  auto* steps = app.add_option("--steps", request.steps, "Steps in all, instead of epochs")
                    ->type_name("N")
                    ->excludes(epochs);
  auto* seconds = app.add_option("--seconds", request.seconds, "Train for so long instead")
                      ->type_name("S")
                      ->excludes(epochs)
                      ->excludes(steps);
  check_whole(epochs, 1, 1'000'000);
  check_whole(steps, 1);
  check_positive(seconds);
}

void add_machine_options(CLI::App& app, TrainingRequest& request) {
  app.option_defaults()->group("Machine");
  add_name(app, "--device", request.device, "Where to train ('feedrate list devices')");
  add_precision(app, request.precision);
  add_pixels(app, request.pixels);
  add_threads(app, "--threads", request.threads, request.auto_threads,
              "Loader threads, or auto; 0 loads in the trainer's own");
  add_threads(app, "--compute-threads", request.compute_threads,
              "Threads of a CPU trainer (default: every core)");
}

void add_recipe_options(CLI::App& app, TrainingRequest& request) {
  app.option_defaults()->group(
      "Optimisation (default: as the preset or the network's authors say)");
  const auto add_number = [&](const char* name, std::optional<double>& number, const char* unit,
                              const char* description) {
    check_not_negative(app.add_option(name, number, description))->type_name(unit);
  };
  add_batch(app, request.batch);
  add_name(app, "--optimizer", request.optimizer,
           "'feedrate list optimizers'; a change takes its defaults");
  add_number("--lr", request.rate, "R", "Learning rate at the start");
  add_number("--momentum", request.momentum, "M", "Momentum (Adam's beta1)");
  add_number("--decay", request.decay, "D", "Weight decay");
  add_number("--beta2", request.beta2, "B", "Adam's beta2, RMSprop's alpha");
  add_number("--epsilon", request.epsilon, "E", "Of Adam and RMSprop");
  add_number("--trust", request.trust, "T", "LARS' trust coefficient");
  add_name(app, "--schedule", request.schedule, "How the rate falls: fixed, cosine, poly, …");
  add_number("--warmup", request.warmup, "E", "Epochs in which the rate grows");
  add_number("--label-smoothing", request.smoothing, "S",
             "Share of each target that goes to all classes");
  add_name(app, "--init", request.init, "Start of weights: xavier, glorot, he, he-fan-out");
  add_mean(app, request.means);
  add_deviation(app, request.deviations);
  app.add_flag("--zero-gamma", request.zero_gamma, "Residual branches start at zero");
  add_seed(app, request.seed);
}

void add_output_options(CLI::App& app, Options& options) {
  TrainingRequest& request = options.request;
  app.option_defaults()->group("Output");
  app.add_option("--checkpoint", request.checkpoint, "Save parameters and position at the end")
      ->type_name("FILE")
      ->excludes("--resident");
  check_whole(app.add_option("--checkpoint-every", request.save_every, "And every so many steps"),
              1)
      ->needs("--checkpoint")
      ->type_name("N");
  app.add_option("--out", request.out, "Where --mode features puts them, as a .npy file")
      ->type_name("FILE")
      ->excludes("--resident");
  for (const LogKind& log : log_kinds) add_log(app, log, request.logs);
  add_json(app, options.json);
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  TrainingRequest& request = options->request;
  add_data_options(app, request);
  add_length_options(app, request);
  app.add_option("--resume", request.resume, "Go on from a checkpoint")
      ->type_name("FILE")
      ->excludes("--resident");
  add_machine_options(app, request);
  add_recipe_options(app, request);
  add_output_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command train_command;
const Command train_command{
    .name = "train",
    .summary = "Trains a network and tells how long it waited for data",
    .description =
        R"(Trains a network on a dataset and tells the rate, the share of time spent waiting for
data (stall, the first step left out), the loss and the accuracy. A checkpoint holds
all that is needed to go on as if training had never stopped: with any number of
loader threads, and to the last bit with the same number of compute threads. A loss
that is not finite ends training with the step, the layer and the last checkpoint.
--mode infer runs forward alone and tells the time for 1,000 images; features the
same as far as the last pooling, whose values --out keeps. They see images in the
order of the dataset, and take their weights from --resume. Started by mpirun or
srun, several processes train one network together: --batch is that of all of them,
each computes the gradients of its share, and they learn what one alone would learn.
With --device cuda each has the GPU of its number on its machine, and gradients go
by NCCL.
--log writes an object a line for each event (init, start, epoch_start, progress,
epoch_end, validation_start, validation, end) with its time and what is known then.)",
    .examples = R"(  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1
  feedrate train data/lmdb/train --network lenet --resident --seconds 5
  feedrate train data/lmdb/train --preset lenet-modern --val data/lmdb/test
  feedrate train data/lmdb/test --network lenet --mode infer --resume lenet.st
  feedrate train data/lmdb/train --network lenet --epochs 2 --checkpoint lenet.st
  feedrate train data/lmdb/train --network lenet --epochs 4 --resume lenet.st
  mpirun -n 4 feedrate train data/lmdb/train --network lenet --batch 256
)",
    .advice =
        "'feedrate list' names networks and devices; 'feedrate verify PATH' checks a dataset.",
    .prepare = prepare};

}  // namespace feedrate::tools
