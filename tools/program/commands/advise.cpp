#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/statistics.h"
#include "formats/remote/aws_credentials.h"
#include "formats/remote/cache.h"
#include "formats/remote/counts.h"
#include "formats/remote/settings.h"
#include "formats/remote/url.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/lab/advise/advice.h"
#include "tools/lab/advise/host.h"
#include "tools/lab/advise/trial.h"
#include "tools/lab/advise/turns.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/jobs/training.h"
#include "tools/lab/measure/environment.h"
#include "tools/lab/measure/fitting_recipe.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

namespace fs = std::filesystem;

struct AdviseRequest {
  /// The training to be fed; without a network there is none.
  TrainingRequest training{
      .data = {.recipe = "none"}, .changes = {.batch = 64}, .feed = {.resident = true}};
  double target = 0;
  std::string devices;  // that are not here: "h100x8"
  std::filesystem::path rates;
  double seconds = 60;
  Prices prices;  // of a server
  bool json = false;
};

constexpr unsigned rounds = 3;
constexpr double shortest_slice = 0.1;  // seconds
constexpr double seconds_of_storage = 0.5;
constexpr double seconds_of_blocks = 1;

bool trains_here(const AdviseRequest& options) {
  return !options.training.model.network.empty() && options.devices.empty();
}

/// Refuses a wrong name before the measurements, not a minute into them.
void check_consumer(const AdviseRequest& options) {
  if (options.training.model.network.empty()) return;
  network(options.training.model.network);
  if (trains_here(options)) usable_backend(options.training.device.name);
}

std::optional<DeviceDemand> remote_demand(const AdviseRequest& options) {
  if (options.devices.empty()) return std::nullopt;
  const std::vector<PublishedRate> rates = known_rates(options.rates);
  DeviceDemand demand =
      demand_of(parse_devices(options.devices, rates), options.training.model.network, rates);
  if (const std::string age = age_warning(demand.from); !age.empty()) warn(age);
  return demand;
}

/// images/s of the network with batches in memory.
double demand_of(const AdviseRequest& options, double seconds) {
  TrainingRequest request = options.training;
  request.seconds = seconds;
  return run_training(request).result.images_per_second;
}

Consumer consumer_of(const AdviseRequest& options, const std::vector<double>& demands) {
  Consumer consumer;
  consumer.cores = usable_cores();
  if (options.target > 0) consumer.demand = options.target;
  if (demands.empty()) return consumer;
  consumer.demand = median(demands);
  consumer.doubt = relative_spread(demands) / 2;
  consumer.shares_cores = options.training.device.name == "cpu";
  consumer.driving = consumer.shares_cores ? 0 : 1;
  return consumer;
}

std::uint64_t size_of(const Dataset& dataset, const Survey& surveyed) {
  const DatasetInfo& info = dataset.info();
  std::uint64_t sum = 0;
  for (const fs::path& file : info.files) sum += fs::file_size(file);
  if (!info.files.empty()) return sum;
  // One file for each image: assume that all are as large as those surveyed.
  return surveyed.total_bytes / std::max<std::size_t>(1, surveyed.samples.size()) * info.size;
}

/// Measures the dataset as it is, every trial and, if there is one, the network, in turns. Returns
/// the network's demand in each round.
std::vector<double> measure_trials(const AdviseRequest& options, const Dataset& dataset,
                                   const Recipe& augment, Variant& present,
                                   std::vector<Trial>& trials, Supply& half) {
  std::vector<Subject> subjects = {{&dataset, &present}};
  for (Trial& trial : trials) subjects.push_back({trial.dataset.get(), &trial.variant});
  const bool trains = trains_here(options);
  // Every core, even where a thread drives a device: mostly it waits for the device.
  Turns turns{.rounds = rounds, .max_threads = usable_cores()};
  const double slices = static_cast<double>(subjects.size() * (turns.max_threads > 1 ? 2 : 1) +
                                            (trains ? 1 : 0) + (options.devices.empty() ? 0 : 1));
  const double seconds = std::max(shortest_slice, options.seconds / slices / rounds);
  turns.supply = {.loader = {.batch = options.training.changes.batch.value(),
                             .start = {.seed = options.training.seed}},
                  .seconds = seconds};
  if (!options.devices.empty()) turns.half = &half;
  if (trains) turns.demand = [&] { return demand_of(options, seconds); };
  turns.begun = [](unsigned round) {
    note(fmt::format("measuring, repeat {} of {}", round + 1, rounds));
  };
  return measure_in_turns(subjects, augment, turns);
}

Moved moved_by(const Dataset& dataset, const Recipe& augment) {
  return {.images = dataset.size(), .batch_bytes = augment.shape(dataset.info().shape).bytes()};
}

Host host_of(const Dataset& dataset, const Variant& present) {
  note("measuring memory and storage");
  Host host{.memory_bytes = machine_memory_mib() << 20, .memory = {}, .storage = {}};
  measure_memory(host);
  if (!dataset.info().is_remote()) {
    const std::vector<fs::path> files = sample_files(dataset);
    host.storage = storage_rate(files, present.bytes / std::max<std::uint64_t>(1, dataset.size()),
                                seconds_of_storage);
  }
  return host;
}

Bill bill_of(const AdviseRequest& options, const Dataset& dataset, const Advice& advice,
             const RemoteCounts& counts) {
  Bill bill = asked_for(dataset);
  bill.images_per_second = advice.now.delivered;
  bill.seconds_per_request = counts.seconds_per_request();
  set_prices(bill, options.prices, options.training.data.path.native(),
             remote_settings().endpoint || !s3_endpoint().empty());
  return bill;
}

Advice advise(const AdviseRequest& options) {
  const RemoteCounts unopened = remote_counts();
  const std::unique_ptr<Dataset> dataset = open_dataset(options.training.data.path);
  const RemoteCounts opening = remote_counts().since(unopened);
  const std::string recipe_name = fitting_recipe(*dataset, options.training.data.recipe);
  const Recipe& augment = recipe(recipe_name);  // before anything is measured
  check_consumer(options);
  const std::optional<DeviceDemand> remote = remote_demand(options);
  const Survey surveyed = survey(*dataset);
  if (surveyed.samples.empty()) fail(options.training.data.path, "holds no image that can be read");
  const std::vector<Candidate> conversions = candidates(*dataset, surveyed, augment);

  Advice advice;
  advice.dataset = without_secrets(options.training.data.path.native());
  advice.images = dataset->size();
  advice.recipe = recipe_name;
  advice.batch = options.training.changes.batch.value();
  advice.network = options.training.model.network;
  if (trains_here(options)) {
    advice.consumer_name = options.training.model.network + " on " + options.training.device.name;
  } else if (options.target > 0) {
    advice.consumer_name = "--target";
  }
  advice.present.name = fmt::format("{} {} (now)", dataset->info().format, dataset->info().codec);
  advice.present.bytes = size_of(*dataset, surveyed);
  advice.present.remote = dataset->info().is_remote();
  const RemoteCounts before = remote_counts();

  make_warm(*dataset);  // as its trials are
  const TrialSample images = draw_trial_sample(dataset->size(), surveyed, options.training.seed);
  std::vector<Trial> trials;
  for (const Candidate& conversion : conversions) {
    note(fmt::format("{} {} images {} {}", conversion.crops ? "trying" : "converting",
                     images.indices.size(), conversion.crops ? "as" : "to", conversion.name()));
    trials.push_back(try_candidate(conversion, *dataset, images));
  }
  Supply half;
  advice.consumer = consumer_of(
      options, measure_trials(options, *dataset, augment, advice.present, trials, half));
  if (remote) {
    advice.feeding = feeding_of(*remote, advice.present, half);
    advice.feeding->permits =
        permits(advice.present, moved_by(*dataset, augment), host_of(*dataset, advice.present));
    advice.consumer.demand = remote->images_per_second;
    advice.consumer_name = advice.feeding->name();
  }
  advice.now = predict(advice.present, advice.consumer);
  if (advice.present.remote) {
    advice.bill = bill_of(options, *dataset, advice, remote_counts().since(before));
    advice.bill->opening_requests = opening.requests;
    advice.bill->opening_bytes = opening.bytes;
    if (!remote_settings().cache_dir) note("measuring blocks from the server");
    advice.reading = choose_reading(advice.present, advice.now, advice.consumer, advice.images,
                                    measure_blocks(*dataset, seconds_of_blocks));
  }

  const std::uint64_t memory = machine_memory_mib() << 20;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Variant& variant = trials[i].variant;
    const bool fits = variant.bytes <= memory || advice.present.bytes > memory;
    if (variant.bytes > memory) {
      const double of_bytes = static_cast<double>(variant.bytes) /
                              static_cast<double>(std::max<std::uint64_t>(1, advice.present.bytes));
      variant.extra_read =
          std::max(0.0, advice.present.at_min.read * of_bytes - variant.at_min.read);
    }
    const Prediction prediction = predict(variant, advice.consumer);
    advice.alternatives.push_back({std::move(variant), prediction, trials[i].convert_seconds,
                                   conversions[i].command(options.training.data.path), fits});
  }
  return advice;
}

std::function<int()> prepare_advise(CLI::App& app) {
  auto options = std::make_shared<AdviseRequest>();
  add_input(app, "PATH", options->training.data.path, "Dataset, or its URL")->required();
  TrainingRequest& training = options->training;
  auto* network =
      add_option(app, network_row, training.model.network)->description("Network to feed");
  add_option(app,
             {.name = "target",
              .unit = "RATE",
              .sentence = "Rate to reach, in images/s",
              .range = above_zero},
             options->target)
      ->excludes(network);
  add_option(
      app,
      {.name = "for", .unit = "DEVICES", .sentence = "Devices that you don't have, such as h100x8"},
      options->devices)
      ->needs(network);
  add_input(app, "--rates", options->rates, published_or_own_rates)
      ->type_name("FILE")
      ->needs("--for");
  add_option(app, recipe_row, training.data.recipe);
  add_settings(app, training.device, {&training.device.name, &training.device.precision});
  for (const char* of_network : {"--device", "--precision"}) {
    app.get_option(of_network)->needs(network)->excludes("--for");
  }
  add_settings(app, training.changes, {&training.changes.batch});
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Approximate measuring time",
              .range = above_zero},
             options->seconds);
  add_option(app, seed_row, training.seed);
  add_option(app,
             {.name = "request_price",
              .unit = "USD",
              .sentence = "Price of 1,000 requests (default for s3://: 0.0004)",
              .range = zero_or_more},
             options->prices.thousand_requests);
  add_option(app,
             {.name = "transfer_price",
              .unit = "USD",
              .sentence = "Price of 1 GB (default for s3://: 0, within a region)",
              .range = zero_or_more},
             options->prices.gigabyte);
  add_remote_options(app);
  add_json(app, options->json);
  return [options] {
    const GracefulStop graceful;
    const Advice found = advise(*options);
    print(options->json ? found.json() : found.text());
    return exit_done;
  };
}

}  // namespace

extern const Command advise_command;
const Command advise_command{
    .name = "advise",
    .job = Job::bottleneck,
    .summary = "Advise how many loader threads and which format to use",
    .description =
        R"(Measure how fast a dataset loads as it is and, on a sample, in other formats and sizes. Say
how many loader threads to use, what limits the rate, and which conversion would help.
Your files are not changed.)",
    .common = "--target --network --for --recipe --batch --seconds --device --json",
    .details =
        R"(--network: Its rate is measured on --device, or published for the devices of --for.
--for: Estimate how many cores like these would feed such devices, and which part of this machine
(cores, memory, storage or network) would be the first limit. The rates are published ones
('feedrate list rates') or your own. To measure the error of the estimate, advise predicts the
rate of all cores from half of them.
--request-price: For a URL, advise also estimates requests, bytes and price of an epoch, and says
whether to read it directly, through a cache (--cache-dir, --shuffle-blocks) or from a copy.)",
    .notes =
        R"(The converted sample is in memory when it is measured, as a dataset that fits into memory
would be.)",
    .examples = R"(  feedrate advise data/imagenet/train --recipe imagenet-train --target 3000
  feedrate advise data/mnist/train --network lenet --seconds 20
  feedrate advise data/imagenet/train --recipe imagenet-train --network resnet50 --for h100x8
)",
    .prepare = prepare_advise};

}  // namespace feedrate::tools
