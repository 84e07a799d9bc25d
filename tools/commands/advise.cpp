#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "formats/cores.h"
#include "formats/error.h"
#include "tools/advise/advice.h"
#include "tools/advise/trial.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/devices.h"
#include "tools/environment.h"
#include "tools/help.h"
#include "tools/row.h"
#include "tools/training.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path path;
  std::string recipe = "none";
  std::string network;
  std::string device = "cpu";
  std::string precision = "fp32";
  double target = 0;
  double seconds = 60;
  std::uint32_t batch = 64;
  std::uint64_t seed = 1;
  bool json = false;
};

constexpr unsigned slices = 3;
constexpr double shortest_slice = 0.1;  // seconds

/// Names are looked up before the first minute of measuring, not after it.
void check_consumer(const Options& options) {
  if (options.network.empty()) return;
  network(options.network);
  usable_backend(options.device);
}

/// What takes the images, measured with batches in memory where it is a network.
Consumer measure_consumer(const Options& options, double seconds) {
  Consumer consumer;
  consumer.cores = usable_cores();
  if (options.target > 0) consumer.demand = options.target;
  if (options.network.empty()) return consumer;
  std::vector<double> rates;
  for (unsigned i = 0; i < slices; ++i) {
    TrainingRequest request;
    request.path = options.path;
    request.network = options.network;
    request.recipe = options.recipe;
    request.device = options.device;
    request.precision = options.precision;
    request.batch = options.batch;
    request.seconds = seconds / slices;
    request.seed = options.seed;
    request.resident = true;
    rates.push_back(run_training(request).result.images_per_second);
  }
  const auto [low, high] = std::ranges::minmax_element(rates);
  consumer.demand = median(rates);
  consumer.doubt = (*high - *low) / 2 / consumer.demand;
  consumer.shares_cores = options.device == "cpu";
  return consumer;
}

std::uint64_t size_of(const Dataset& dataset, const Survey& looked) {
  const DatasetInfo& info = dataset.info();
  std::uint64_t sum = 0;
  for (const fs::path& file : info.files) sum += fs::file_size(file);
  if (!info.files.empty()) return sum;
  // A file for each image: the mean of those looked at stands for all.
  return looked.total_bytes / std::max<std::size_t>(1, looked.samples.size()) * info.size;
}

Advice advise(const Options& options) {
  const std::unique_ptr<Dataset> dataset = open_dataset(options.path);
  const Recipe& augment = recipe(options.recipe);
  check_consumer(options);
  const Survey looked = survey(*dataset);
  if (looked.samples.empty()) fail(options.path, "holds no image that can be read");
  const std::vector<Candidate> ways = candidates(*dataset, looked, augment);

  // A device wants a core for the thread that drives it; a trainer on the processor shares them
  // all.
  const bool drives = options.target > 0 || (!options.network.empty() && options.device != "cpu");
  const unsigned most = loader_cores(drives);
  const double measurements = static_cast<double>((ways.size() + 1) * (most > 1 ? 2 : 1) +
                                                  (options.network.empty() ? 0 : 1));
  SupplyOptions supply{.threads = 1, .batch = options.batch, .seed = options.seed};
  supply.slices = slices;
  supply.seconds = std::max(shortest_slice, options.seconds / measurements / slices);

  Advice advice;
  advice.dataset = options.path.string();
  advice.images = dataset->size();
  advice.recipe = options.recipe;
  advice.batch = options.batch;
  if (!options.network.empty()) {
    advice.consumer_name = options.network + " on " + options.device;
  } else if (options.target > 0) {
    advice.consumer_name = "--target";
  }
  note(fmt::format("measuring {} as it is", options.path.string()));
  advice.present.name = fmt::format("{} {} (now)", dataset->info().format, dataset->info().codec);
  advice.present.bytes = size_of(*dataset, looked);
  advice.present.one = measure_supply(*dataset, augment, supply);
  supply.threads = most;
  advice.present.most = most > 1 ? measure_supply(*dataset, augment, supply) : advice.present.one;
  if (!options.network.empty()) {
    note(fmt::format("measuring what {} takes", advice.consumer_name));
  }
  advice.consumer = measure_consumer(options, supply.seconds * slices);
  advice.now = predict(advice.present, advice.consumer);

  const std::uint64_t memory = machine_memory_mib() << 20;
  const TrialOptions trial_options{
      .images = trial_images(*dataset, looked), .most_threads = most, .supply = supply};
  for (const Candidate& way : ways) {
    note(fmt::format("trying {} on {} images", way.name(), trial_options.images));
    Trial trial = try_candidate(way, *dataset, augment, trial_options);
    const bool fits = trial.way.bytes <= memory || advice.present.bytes > memory;
    if (trial.way.bytes > memory) {
      const double of_bytes = static_cast<double>(trial.way.bytes) /
                              static_cast<double>(std::max<std::uint64_t>(1, advice.present.bytes));
      trial.way.extra_read = std::max(0.0, advice.present.one.read * of_bytes - trial.way.one.read);
    }
    const Prediction prediction = predict(trial.way, advice.consumer);
    advice.alternatives.push_back(
        {std::move(trial.way), prediction, trial.convert_seconds, way.command(options.path), fits});
  }
  return advice;
}

class AdviseCommand : public Command {
 public:
  AdviseCommand()
      : Command("advise", "Says how many loader threads and which format a device needs") {}

  std::string_view description() const override {
    return "Measures what the loader gives from a dataset as it is, what a network takes (or some "
           "rate\n"
           "that you name), and, on some of the images converted into a scratch directory, what "
           "other\n"
           "codecs and sizes would give. Says how many threads to use, what the limit is, and "
           "which\n"
           "conversion would deliver more: how much, in how many bytes, and how sure that is. What "
           "is\n"
           "converted lies in memory when it is measured, as it would where it fits. Nothing of "
           "yours\n"
           "is changed.";
  }
  std::string_view examples() const override {
    return "  feedrate advise data/imagenet/train --recipe imagenet-train --target 3000\n"
           "  feedrate advise data/mnist/train --network lenet --seconds 20\n";
  }
  std::string_view advice() const override {
    return "'feedrate list' names networks and recipes; 'feedrate load' measures one loader alone.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    app.add_option("PATH", options->path, "The dataset")->required();
    auto* network =
        app.add_option("--network", options->network, "The network to be fed")->type_name("NAME");
    auto* target = app.add_option("--target", options->target, "Or: the images/s to be fed")
                       ->type_name("RATE")
                       ->excludes(network);
    check_positive(target);
    app.add_option("--recipe", options->recipe, "Augmentation")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--device", options->device, "Where the network trains")
        ->type_name("NAME")
        ->needs(network)
        ->capture_default_str();
    app.add_option("--precision", options->precision, "fp32, tf32, bf16 or fp16")
        ->type_name("NAME")
        ->needs(network)
        ->capture_default_str();
    add_batch(app, options->batch)->capture_default_str();
    check_positive(app.add_option("--seconds", options->seconds, "Spent on measuring, about"))
        ->type_name("S")
        ->capture_default_str();
    add_seed(app, options->seed);
    add_json(app, options->json);
    return [options] {
      const Advice found = advise(*options);
      print(options->json ? found.json() : found.text());
      return exit_done;
    };
  }
};

const AdviseCommand the_command;

}  // namespace

extern const Command& advise_command;
const Command& advise_command = the_command;

}  // namespace feedrate
