#include <CLI/CLI.hpp>
#include <memory>

#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/lab/jobs/forward.h"
#include "tools/lab/jobs/order_request.h"
#include "tools/lab/jobs/train_report.h"
#include "tools/lab/jobs/training.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/order_options.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "tools/program/commands/log_options.h"
#include "trainer/communicators/communicator.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/presets/preset.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

struct TrainRequest {
  TrainingRequest request;
  bool json = false;
};

template <class Report>
int show(const TrainRequest& options, const Report& report) {
  if (world().rank() == 0)
    print(options.json ? to_json(options.request, report) : to_text(options.request, report));
  return exit_done;
}

int run_train(TrainRequest& options) {
  const GracefulStop graceful;
  complete(options.request);
  if (world().rank() != 0) mute_notes();
  return options.request.mode == Mode::train ? show(options, run_training(options.request))
                                             : show(options, run_forward(options.request));
}

/// A forward pass has nothing to save or to log, and its accuracy and features are of the dataset
/// itself.
void check_forward(const TrainingRequest& request) {
  if (request.mode == Mode::train) return;
  const auto refuse = [&](std::string_view option) {
    throw Error(join("--", option, " is for --mode train, not --mode ", name(request.mode)));
  };
  if (request.feed.loader.on_bad != BadPolicy::fail) refuse("on-bad");
  if (request.feed.loader.shuffle_blocks != 0) refuse("shuffle-blocks");
  LogPaths files = request.files.logs;
  files.insert({{"checkpoint", request.files.checkpoint}, {"val", request.validation.path}});
  for (const auto& [option, file] : files) {
    if (!file.empty()) refuse(option);
  }
}

/// Features are of the whole dataset, once, and nothing else is kept of them.
void check_features(const TrainingRequest& request) {
  const bool kept = !request.files.features.empty();
  if (request.mode != Mode::features) {
    if (!kept) return;
    throw Error("--out keeps features: it needs --mode features");
  }
  if (!kept) throw Error("--mode features needs --out FILE for the features");
  if (request.length.epochs + request.length.steps > 0 || request.seconds > 0) {
    throw Error("--mode features reads every image once: no --epochs, --steps or --seconds");
  }
}

void add_data_options(CLI::App& app, TrainingRequest& request) {
  add_dataset(app, request.data.path, "Dataset to train on, or its URL", request.data.order);
  add_option(app, network_row, request.model.network);
  add_option(app, preset_row, request.model.preset);
  app.final_callback([&request] {
    expect_dataset(request.data.path, request.data.order);
    if (request.model.network.empty() && request.model.preset.empty())
      throw CLI::RequiredError("--network or --preset");
    check_forward(request);
    check_features(request);
    if (picks(request.data.order)) check_picked(request.feed.loader, Spelling::shell);
    if (!request.data.recipe.empty()) {
      check({.recipe = request.data.recipe, .decode = size_of(request.feed.decode)},
            Spelling::shell);
    }
    check_compute_threads(request.device);
    const loader::PixelType pixels = request.feed.loader.pixels;
    check_device_decode(request.feed.decode, request.device.name, pixels);
    if (request.device.name != "cpu" && pixels != loader::PixelType::u8) {
      throw Error(join("--pixels ", loader::name(pixels), " is for --device cpu; ",
                       request.device.name, " takes u8 and makes numbers of them itself"));
    }
  });
  add_option(app, mode_row, request.mode);
  add_input(app, "--val", request.validation.path, "Validate on this dataset at the end")
      ->type_name("PATH");
  add_option(app,
             {.name = "val_every",
              .unit = "N",
              .sentence = "Validate also after every N epochs",
              .min = 1},
             request.validation.every)
      ->needs("--val");
  add_option(app, recipe_row, request.data.recipe)
      ->description("Augmentation (default: the preset's or the network's)");
  app.add_flag("--resident", request.feed.resident,
               "Train on a few batches in memory, to measure demand");
  app.add_flag_callback(
         "--no-upload", [&request] { request.feed.uploads = false; },
         "With --resident: keep the batches on the device")
      ->needs("--resident");
  LoaderSettings& loader = request.feed.loader;
  add_settings(app, loader,
               {&loader.shuffle_blocks, &loader.crop_index, &loader.on_bad, &loader.bad_budget});
  app.add_flag("--cold", request.data.cold, "Read from disk: drop the dataset from the page cache")
      ->excludes("--resident");
}

void add_length_options(CLI::App& app, TrainingRequest& request) {
  auto* epochs = add_option(app, epochs_row, request.length.epochs)
                     ->description("Passes over the dataset (default: the preset's, or 1)");
  explain(app, epochs, epochs_counted);
  auto* steps = add_option(app,
                           {.name = "steps",
                            .unit = "N",
                            .sentence = "Train for N steps, instead of --epochs",
                            .min = 1},
                           request.length.steps)
                    ->excludes(epochs);
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Train for S seconds, instead of --epochs",
              .range = above_zero},
             request.seconds)
      ->excludes(epochs)
      ->excludes(steps);
}

void add_machine_options(CLI::App& app, TrainingRequest& request) {
  LoaderSettings& loader = request.feed.loader;
  add_settings(app, request.device, {&request.device.name, &request.device.precision});
  add_settings(app, loader, {&loader.pixels});
  add_option(app, decode_row, request.feed.decode);
  add_settings(app, loader, {&loader.threads});
  add_settings(app, request.device, {&request.device.compute_threads});
}

void add_recipe_options(CLI::App& app, TrainingRequest& request) {
  for (const BoundSetting& one : bound_settings(request.changes)) add_option(app, one);
  add_option(app, seed_row, request.seed);
}

void add_train_outputs(CLI::App& app, TrainRequest& options) {
  TrainingRequest& request = options.request;
  add_output(app,
             {.name = "--checkpoint",
              .description = "Save a checkpoint at the end",
              .may_replace = "--resume"},
             request.files.checkpoint)
      ->excludes("--resident");
  add_option(app,
             {.name = "checkpoint_every",
              .unit = "N",
              .sentence = "Save also after every N steps",
              .min = 1},
             request.files.save_every)
      ->needs("--checkpoint");
  add_output(app, {.name = "--out", .description = "Write the features of --mode features as .npy"},
             request.files.features)
      ->excludes("--resident");
  for (const LogKind& log : log_kinds) add_log(app, log, request.files.logs);
  add_json(app, options.json);
}

std::function<int()> prepare_train(CLI::App& app) {
  auto options = std::make_shared<TrainRequest>();
  TrainingRequest& request = options->request;
  add_data_options(app, request);
  add_length_options(app, request);
  add_input(app, "--resume", request.files.resume, "Continue from this checkpoint")
      ->type_name("FILE")
      ->excludes("--resident");
  add_machine_options(app, request);
  add_recipe_options(app, request);
  add_train_outputs(app, *options);
  add_remote_options(app);
  return [options] { return run_train(*options); };
}

}  // namespace

extern const Command train_command;
const Command train_command{
    .name = "train",
    .job = Job::training,
    .summary = "Train a network and measure how long it waits for data",
    .description =
        R"(Train a network and report images/s, the stall (the share of time spent waiting for data),
loss and accuracy. Training resumes from a checkpoint as if it had never stopped.)",
    .common =
        "--network --preset --val --epochs --batch --recipe --threads --device --precision --lr "
        "--checkpoint --resume --log --tensorboard --json",
    .details =
        R"(--recipe: For photographs imagenet-train, and imagenet-eval to validate.
--batch: With several processes, the global batch size: 'feedrate help processes'.
--checkpoint: Parameters, optimizer state and position in the dataset.
--resume: The run continues with the same bits at any number of loader threads, if the number of
compute threads is the same. A different dataset or order is an error; other changes are
reported. A finished run does nothing. --log and --mllog append; lines of steps after the
checkpoint no longer count.
--device: With several processes, each uses the GPU of its local rank.
--log: The events are init, resume, start, epoch_start, progress, epoch_end, validation_start,
validation and end.)",
    .notes =
        R"(A loss that is not finite ends training with an error that names the step, the layer and the
last checkpoint.)",
    .examples = R"(  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1
  feedrate train data/lmdb/train --network lenet --resident --seconds 5
  feedrate train data/lmdb/train --preset lenet-modern --val data/lmdb/test
  feedrate train data/lmdb/test --network lenet --mode infer --resume lenet.st
  feedrate train data/lmdb/train --network lenet --epochs 2 --checkpoint lenet.st
  feedrate train data/lmdb/train --network lenet --epochs 4 --resume lenet.st
  mpirun -n 4 feedrate train data/lmdb/train --network lenet --batch 256
  feedrate train data/packed --network resnet50 --device cuda --decode device
)",
    .prepare = prepare_train};

}  // namespace feedrate::tools
