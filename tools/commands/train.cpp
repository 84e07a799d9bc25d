#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/command.h"
#include "tools/console.h"
#include "tools/help.h"
#include "tools/text.h"
#include "tools/training.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

using nlohmann::ordered_json;

struct Options {
  TrainingRequest request;
  bool json = false;
};

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json as_json(const TrainingRequest& request, const TrainingReport& report) {
  const TrainResult& result = report.result;
  // The clock starts after the first step: one step alone has no rate.
  const auto timed = [&](double value) {
    return result.seconds > 0 ? ordered_json(value) : ordered_json(nullptr);
  };
  return {{"network", request.network},
          {"parameters", report.parameters},
          {"macs", report.macs},
          {"device", request.device},
          {"precision", request.precision},
          {"optimizer", report.optimizer},
          {"batch", report.batch},
          {"steps", result.steps},
          {"images", result.images},
          {"seconds", rounded(result.seconds, 6)},
          {"images_per_second", timed(rounded(result.images_per_second, 1))},
          {"stall_percent", timed(rounded(result.stall_percent, 3))},
          {"loss", rounded(result.loss, 6)},
          {"accuracy", rounded(result.accuracy, 6)},
          {"val_accuracy", report.validation ? ordered_json(rounded(report.validation->accuracy, 6))
                                             : ordered_json(nullptr)},
          {"gpu_memory_mib", or_null(report.telemetry.gpu_memory_mib)},
          {"gpu_power_w", or_null(report.telemetry.gpu_power_w)},
          {"gpu_energy_j", or_null(report.telemetry.gpu_energy_j)},
          {"threads", report.threads},
          {"workers_seen", or_null(report.workers_seen)}};
}

std::string as_text(const TrainingRequest& request, const TrainingReport& report) {
  const TrainResult& result = report.result;
  const std::string rate =
      result.seconds > 0 ? quantity(result.images_per_second) + " images/s" : "rate unknown";
  std::string text = fmt::format(
      "{} on {}: {}, {} of {} in {}, waiting {:.1f} % of the time\n"
      "  training loss {:.4f}, accuracy {:.2f} %\n",
      request.network, report.device_name, rate, counted(result.steps, "step"), report.batch,
      duration_text(result.seconds), result.stall_percent, result.loss, 100 * result.accuracy);
  if (report.tuning) text += fmt::format("  loader threads: {}\n", report.tuning->text());
  if (report.validation) {
    text +=
        fmt::format("  validation loss {:.4f}, accuracy {:.2f} % of {}\n", report.validation->loss,
                    100 * report.validation->accuracy, counted(report.validation->images, "image"));
  }
  return text;
}

int run(const Options& options) {
  const TrainingReport report = run_training(options.request);
  print(options.json ? as_json(options.request, report).dump(2) + "\n"
                     : as_text(options.request, report));
  return exit_done;
}

void add_data_options(CLI::App& app, TrainingRequest& request) {
  app.add_option("PATH", request.path, "The dataset to train on")->required();
  app.add_option("--network", request.network, "Network: see 'feedrate list networks'")
      ->type_name("NAME")
      ->required();
  app.add_option("--val", request.validation, "Measure accuracy on this dataset at the end")
      ->type_name("PATH");
  app.add_option("--recipe", request.recipe,
                 "How images are augmented: see 'feedrate list recipes'")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--resident", request.resident,
               "Repeat a few batches held in memory: what the trainer can take");
}

void add_length_options(CLI::App& app, TrainingRequest& request) {
  auto* epochs = app.add_option("--epochs", request.epochs, "Passes over the dataset, in all")
                     ->type_name("N")
                     ->capture_default_str();
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
  app.add_option("--precision", request.precision, "fp32, tf32, bf16 or fp16")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  add_threads(app, "--threads", request.threads, request.auto_threads,
              "Loader threads, or auto; 0 loads in the trainer's own")
      ->group(group);
  add_threads(app, "--compute-threads", request.compute_threads,
              "Threads of a CPU trainer (default: every core)")
      ->group(group);
}

void add_recipe_options(CLI::App& app, TrainingRequest& request) {
  const std::string group = "Optimisation (default: as the network was published)";
  add_batch(app, request.batch)->group(group);
  app.add_option("--optimizer", request.optimizer,
                 "See 'feedrate list optimizers'; another than the\n"
                 "network's own starts from its own defaults")
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
  add_seed(app, request.seed)->group(group);
}

class TrainCommand : public Command {
 public:
  TrainCommand() : Command("train", "Trains a network and tells how long it waited for data") {}

  std::string_view description() const override {
    return "Trains a network on a dataset and tells the rate, the share of time spent waiting for\n"
           "data (stall, the first step left out), the loss and the accuracy. A checkpoint holds\n"
           "all that is needed to go on as if training had never stopped: with any number of\n"
           "loader threads, and to the last bit with the same number of compute threads.";
  }
  std::string_view examples() const override {
    return "  feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1\n"
           "  feedrate train data/lmdb/train --network lenet --resident --seconds 5\n"
           "  feedrate train data/lmdb/train --network lenet --epochs 2 --checkpoint lenet.st\n"
           "  feedrate train data/lmdb/train --network lenet --epochs 4 --resume lenet.st\n";
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

}  // namespace feedrate
