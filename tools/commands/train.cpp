#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
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
      app.add_option("--network", request.network, "Network: see 'feedrate list networks'");
  auto* preset = app.add_option("--preset", request.preset,
                                "A known way to train one: see 'feedrate list presets'");
  network->type_name("NAME");
  preset->type_name("NAME");
  app.final_callback([network, preset] {
    if (network->empty() && preset->empty()) throw CLI::RequiredError("--network or --preset");
  });
  app.add_option("--mode", request.mode, "train, infer or features")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--val", request.validation, "Measure accuracy on this dataset at the end")
      ->type_name("PATH");
  check_whole(app.add_option("--val-every", request.val_every, "And after every so many epochs")
                  ->needs("--val")
                  ->type_name("N"),
              1);
  app.add_option("--recipe", request.recipe, "Augmentation (default: the preset's, or none)")
      ->type_name("NAME");
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
  const std::string group = "Machine";
  app.add_option("--device", request.device, "Where to train ('feedrate list devices')")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  add_precision(app, request.precision)->group(group);
  add_pixels(app, request.pixels)->group(group);
  add_threads(app, "--threads", request.threads, request.auto_threads,
              "Loader threads, or auto; 0 loads in the trainer's own")
      ->group(group);
  add_threads(app, "--compute-threads", request.compute_threads,
              "Threads of a CPU trainer (default: every core)")
      ->group(group);
}

void add_recipe_options(CLI::App& app, TrainingRequest& request) {
  const std::string group = "Optimisation (default: as the preset or the network's authors say)";
  add_batch(app, request.batch)->group(group);
  app.add_option("--optimizer", request.optimizer,
                 "'feedrate list optimizers'; a change takes its defaults")
      ->type_name("NAME")
      ->group(group);
  auto* rate = app.add_option("--lr", request.rate, "Learning rate at the start");
  auto* momentum = app.add_option("--momentum", request.momentum, "Momentum (Adam's beta1)");
  auto* decay = app.add_option("--decay", request.decay, "Weight decay");
  auto* beta2 = app.add_option("--beta2", request.beta2, "Adam's beta2, RMSprop's alpha");
  auto* epsilon = app.add_option("--epsilon", request.epsilon, "Of Adam and RMSprop");
  auto* trust = app.add_option("--trust", request.trust, "LARS' trust coefficient");
  check_not_negative(rate)->type_name("R")->group(group);
  check_not_negative(momentum)->type_name("M")->group(group);
  check_not_negative(decay)->type_name("D")->group(group);
  check_not_negative(beta2)->type_name("B")->group(group);
  check_not_negative(epsilon)->type_name("E")->group(group);
  check_not_negative(trust)->type_name("T")->group(group);
  app.add_option("--schedule", request.schedule, "How the rate falls: fixed, cosine, poly, …")
      ->type_name("NAME")
      ->group(group);
  auto* warmup = app.add_option("--warmup", request.warmup, "Epochs in which the rate grows");
  check_not_negative(warmup)->type_name("E")->group(group);
  auto* smoothing = app.add_option("--label-smoothing", request.smoothing,
                                   "Share of each target that goes to all classes");
  check_not_negative(smoothing)->type_name("S")->group(group);
  app.add_option("--init", request.init, "Start of weights: xavier, glorot, he, he-fan-out")
      ->type_name("NAME")
      ->group(group);
  add_mean(app, request.means)->group(group);
  add_deviation(app, request.deviations)->group(group);
  app.add_flag("--zero-gamma", request.zero_gamma, "Residual branches start at zero")->group(group);
  add_seed(app, request.seed)->group(group);
}

class TrainCommand : public Command {
 public:
  TrainCommand() : Command("train", "Trains a network and tells how long it waited for data") {}

  std::string_view description() const override {
    return "Trains a network on a dataset and tells the rate, the share of time spent waiting for\n"
           "data (stall, the first step left out), the loss and the accuracy. A checkpoint holds\n"
           "all that is needed to go on as if training had never stopped: with any number of\n"
           "loader threads, and to the last bit with the same number of compute threads. A loss\n"
           "that is not finite ends training with the step, the layer and the last checkpoint.\n"
           "--mode infer runs forward alone and tells the time for 1,000 images; features the\n"
           "same as far as the last pooling, whose values --out keeps. They see images in the\n"
           "order of the dataset, and take their weights from --resume. Started by mpirun or\n"
           "srun, several processes train one network together: --batch is that of all of them,\n"
           "each computes the gradients of its share, and they learn what one alone would learn.\n"
           "With --device cuda each has the GPU of its number on its machine, and gradients go\n"
           "by NCCL.\n"
           "--log writes an object a line for each event (init, start, epoch_start, progress,\n"
           "epoch_end, validation_start, validation, end) with its time and what is known then.";
  }
  std::string_view examples() const override {
    return "  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1\n"
           "  feedrate train data/lmdb/train --network lenet --resident --seconds 5\n"
           "  feedrate train data/lmdb/train --preset lenet-modern --val data/lmdb/test\n"
           "  feedrate train data/lmdb/test --network lenet --mode infer --resume lenet.st\n"
           "  feedrate train data/lmdb/train --network lenet --epochs 2 --checkpoint lenet.st\n"
           "  feedrate train data/lmdb/train --network lenet --epochs 4 --resume lenet.st\n"
           "  mpirun -n 4 feedrate train data/lmdb/train --network lenet --batch 256\n";
  }
  std::string_view advice() const override {
    return "'feedrate list' names networks and devices; 'feedrate verify PATH' checks a dataset.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    TrainingRequest& request = options->request;
    add_data_options(app, request);
    add_length_options(app, request);
    add_machine_options(app, request);
    add_recipe_options(app, request);
    app.add_option("--checkpoint", request.checkpoint, "Save parameters and position at the end")
        ->type_name("FILE")
        ->excludes("--resident")
        ->group("Output");
    check_whole(app.add_option("--checkpoint-every", request.save_every, "And every so many steps")
                    ->needs("--checkpoint")
                    ->type_name("N")
                    ->group("Output"),
                1);
    app.add_option("--out", request.out, "Where --mode features puts them, as a .npy file")
        ->type_name("FILE")
        ->excludes("--resident")
        ->group("Output");
    for (const LogKind& log : log_kinds) add_log(app, log, request.logs);
    app.add_option("--resume", request.resume, "Go on from a checkpoint")
        ->type_name("FILE")
        ->excludes("--resident");
    add_json(app, options->json);
    return [options] { return run(*options); };
  }
};

const TrainCommand the_command;

}  // namespace

extern const Command& train_command;
const Command& train_command = the_command;

}  // namespace feedrate::tools
