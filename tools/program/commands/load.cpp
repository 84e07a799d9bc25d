#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "formats/base/stop.h"
#include "formats/dataset.h"
#include "formats/io/page_cache.h"
#include "formats/remote/counts.h"
#include "loader/drive.h"
#include "loader/settings.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/lab/bench/emulation.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/damage_advice.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/jobs/load_report.h"
#include "tools/lab/jobs/order_request.h"
#include "tools/lab/logs/logs.h"
#include "tools/lab/measure/sampler.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/order_options.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "tools/program/commands/load_watch.h"
#include "tools/program/commands/log_options.h"
#include "trainer/settings.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

struct LoadRequest {
  std::filesystem::path path;
  LoaderSettings settings{.threads = 2};
  Decode decode = Decode::full;
  OrderRequest order;
  DriveOptions drive;
  DeviceSettings device;
  bool cold = false;
  bool no_digest = false;
  std::filesystem::path quarantine;
  std::filesystem::path trace;
  LogPaths logs;
  bool json = false;
};

void quarantine(const LoadRequest& options, const Loader& loader) {
  if (!options.quarantine.empty()) write_quarantine(options.quarantine, loader.bad_samples());
}

Fields start_of(const LoadRequest& options, const LoaderOptions& settings, const Dataset& dataset,
                std::uint64_t images) {
  Fields start = {{"run", "load"},
                  {"dataset", shown_path(dataset.info().path)},
                  {"recipe", options.settings.recipe},
                  {"decode", std::string(name(options.decode))},
                  {"batch", settings.batch},
                  {"seed", settings.start.seed},
                  {"images", images}};
  if (options.cold) start.push_back({"cold", true});
  return start;
}

LoadReport load(const LoadRequest& options) {
  const GracefulStop graceful;
  const RemoteCounts fetched_before = remote_counts();  // opening may fetch all, into a cache
  const auto [dataset, picks] = open_data(options.path, options.order, shuffles(options.settings),
                                          {options.settings.on_bad, options.settings.bad_budget});
  const LoaderSetup setup = set_up(options.settings, *dataset, picks.get(), Spelling::shell);
  const Recipe& augment = *setup.recipe;
  LoaderOptions settings = setup.options;
  settings.diagnosis.trace = !options.trace.empty();
  if (!options.settings.epochs) settings.epochs = options.drive.seconds > 0 ? 0 : 1;
  std::optional<DeviceDecoding> device;
  if (options.decode == Decode::device) {
    device.emplace(options.device.name, *dataset, settings.batch);
    expect_device_decodes(*dataset, augment);
    device->set(settings);
  }
  const std::uint64_t epoch_size = setup.epoch_size;
  Logs logs(options.logs);
  logs.begin(start_of(options, settings, *dataset, epoch_size));
  LoadReport loaded;
  if (options.cold) loaded.in_memory = make_cold(*dataset);
  loaded.batch = settings.batch;
  loaded.pixels = settings.pixels.type;
  loaded.layout = settings.pixels.wanted_layout();
  loaded.decode = options.decode;
  loaded.skips = settings.bad.policy == BadPolicy::skip;
  const std::uint64_t before = bytes_from_disk();
  {
    Loader loader(*dataset, augment, settings);
    loaded.crop_index_problem = loader.crop_index_problem();
    if (!loaded.crop_index_problem.empty()) {
      note(loaded.crop_index_problem + "; until then, crops are decoded without it");
    }
    try {
      LoadWatch watch(loader, settings.epochs * epoch_size, logs);
      Sampler sampler;
      DriveOptions drive_options = options.drive;
      drive_options.first_batch = [&] { sampler.enter(Section::measured); };
      if (device) device->set(drive_options);
      loaded.result = advised_of_damage([&] { return drive(loader, drive_options); });
      loaded.telemetry =
          loaded.result.from_start ? sampler.measured_from_start() : sampler.measured();
      watch.end();
    } catch (const Error&) {
      quarantine(options, loader);  // the list matters most when too many samples are bad
      throw;
    }
    quarantine(options, loader);
    loaded.bad_samples = loader.bad_samples().size();
    loaded.storage_bytes = bytes_from_disk() - before;
    if (dataset->info().is_remote()) {
      loaded.remote = server_work(remote_counts().since(fetched_before));
    }
    loaded.stats = loader.stats();
    if (!loaded.result.stopped) logs.end();
    loaded.threads = loaded.stats.threads;
    if (device) loaded.device = device->decoded();
    if (settings.engine.tune) loaded.tuning = loader.tuning();
    loaded.state = loader.state();
    if (settings.diagnosis.trace) loader.write_trace(options.trace);
  }
  if (epoch_size > 0) {
    loaded.epochs = static_cast<double>(loaded.result.images) / static_cast<double>(epoch_size);
  }
  if (!options.no_digest && !stop_requested()) {
    // A separate pass: hashing must not slow down what is measured.
    settings.epochs = 1;
    settings.diagnosis.trace = false;
    settings.engine.tune = false;
    Loader loader(*dataset, augment, settings);
    DriveOptions hash{.digest = true};
    if (device) device->set(hash);
    const DriveResult hashed = drive(loader, hash);
    if (!hashed.stopped) loaded.digest = hashed.digest;
  }
  return loaded;
}

int run_load(const LoadRequest& options) {
  const LoadReport loaded = load(options);
  print(options.json ? loaded.json() : loaded.text());
  if (!options.trace.empty()) {
    note(fmt::format("wrote {}; open it in ui.perfetto.dev", options.trace.string()));
  }
  return exit_done;
}

void add_batch_options(CLI::App& app, LoadRequest& options) {
  LoaderSettings& of = options.settings;
  add_dataset(app, options.path, "Dataset, or its URL (https, http, s3)", options.order);
  add_settings(
      app, of,
      {&of.threads, &of.batch, &of.recipe, &of.pixels, &of.layout, &of.mean, &of.deviation});
  add_option(app, decode_row, options.decode);
  add_settings(app, options.device, {&options.device.name});
  app.get_option("--device")->description("Device of --decode device");
}

void add_order_options(CLI::App& app, LoadRequest& options) {
  LoaderSettings& of = options.settings;
  add_settings(app, of, {&of.epochs});
  explain(app, app.get_option("--epochs"), epochs_counted);
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Load for S seconds, instead of --epochs",
              .range = above_zero},
             options.drive.seconds)
      ->excludes("--epochs");
  add_settings(app, of,
               {&of.seed, &of.shuffle, &of.window, &of.shuffle_blocks, &of.last, &of.rank,
                &of.ranks, &of.start});
  app.get_option("--rank")->needs("--ranks");
  app.get_option("--ranks")->needs("--rank");
}

void add_source_options(CLI::App& app, LoadRequest& options) {
  LoaderSettings& of = options.settings;
  add_option(app,
             {.name = "emulate",
              .unit = "RATE",
              .sentence = "Emulate a trainer that takes RATE images/s",
              .range = above_zero},
             options.drive.emulate_images_per_second);
  add_option(app,
             {.name = "host_cores",
              .unit = "CORES",
              .sentence = "Cores that the emulated trainer keeps busy",
              .range = {.low = 0, .high = max_host_cores}},
             options.drive.emulate_host_cores)
      ->needs("--emulate");
  app.add_flag("--resident", options.drive.resident,
               "Take the first batch repeatedly, to measure the emulated trainer")
      ->needs("--emulate");
  app.add_flag("--cold", options.cold, "Read from disk: drop the dataset from the page cache");
  add_settings(app, of, {&of.io_threads, &of.crop_index, &of.on_bad, &of.bad_budget});
}

void add_load_outputs(CLI::App& app, LoadRequest& options) {
  app.add_flag("--no-digest", options.no_digest, "Skip computing the digest");
  add_output(app,
             {.name = "--quarantine",
              .description = "List bad samples: file, offset, index, key and reason"},
             options.quarantine);
  add_output(app, {.name = "--trace", .description = "Record what every thread does, for Perfetto"},
             options.trace);
  for (const LogKind& log : log_kinds) {
    if (log.follows_load) add_log(app, log, options.logs);
  }
  add_json(app, options.json);
}

/// Refuses options that do not fit together. Without --epochs, a run ends with the epoch at --from.
void check_options(LoadRequest& options, bool given_epochs) {
  LoaderSettings& settings = options.settings;
  expect_dataset(options.path, options.order);
  const OrderRequest& order = options.order;
  const bool drawn = !order.weights.empty() || !order.groups.empty();
  if (drawn) check_drawn(settings, Spelling::shell);
  if (picks(order)) check_picked(settings, Spelling::shell);
  check_device_decode(options.decode, options.device.name, settings.pixels);
  if (options.decode == Decode::device && settings.layout == PixelLayout::planar) {
    throw Error("--decode device needs --layout nhwc");
  }
  if (options.decode != Decode::device && options.device.name != "cpu") {
    throw Error(join("--device ", options.device.name, " needs --decode device"));
  }
  settings.decode = size_of(options.decode);
  if (!given_epochs) settings.epochs.reset();
  if (settings.epochs && *settings.epochs <= settings.start.epoch) {
    throw Error(join("--epochs ", *settings.epochs,
                     " leaves nothing to load: it counts the epochs before --from ",
                     value_text({}, settings.start)));
  }
  // The thread of an emulated trainer needs a core, as that of a real one does.
  settings.consumer_computes = options.drive.emulate_images_per_second > 0;
  check(settings, Spelling::shell);
}

std::function<int()> prepare_load(CLI::App& app) {
  auto options = std::make_shared<LoadRequest>();
  add_batch_options(app, *options);
  add_order_options(app, *options);
  add_source_options(app, *options);
  add_load_outputs(app, *options);
  add_remote_options(app);
  app.callback([options, &app] { check_options(*options, app.count("--epochs") > 0); });
  return [options] { return run_load(*options); };
}

}  // namespace

extern const Command load_command;
const Command load_command{
    .name = "load",
    .job = Job::measurement,
    .summary = "Measure how fast a dataset loads, and what limits it",
    .description =
        R"(Read, decode, augment and batch a dataset without a trainer. Report images/s, where the time
goes and what limits the rate.)",
    .common =
        "--threads --batch --recipe --pixels --epochs --seconds --emulate --cold --on-bad "
        "--no-digest --trace --json",
    .details =
        R"(--threads: With --emulate, auto finds the smallest number that feeds the emulated trainer.
--emulate: A thread takes batches at that rate, and load reports its utilisation as MLPerf Storage
does, which asks for 90 %.
--host-cores: They are busy while the emulated GPU computes, as the threads driving a real GPU would
be.
--cold: load reports how much of the first epoch was still in memory.
--no-digest: The digest of the first epoch is computed in a separate pass, and is the same at any
number of threads.
--from: Loads to the end of that epoch, or of --epochs, which counts the epochs before it. load
prints the state at the end of a run.
--trace: Open the file in ui.perfetto.dev.)",
    .examples = R"(  feedrate load data/lmdb/train --threads 2 --seconds 3
  feedrate load data/png-map/train --threads 2 --emulate 6000 --trace trace.json
  feedrate load data/imagenet/train --threads auto --emulate 1786 --seconds 30
  feedrate load data/imagenet/train --recipe imagenet-train+rand-augment+mixup:alpha=0.2
  feedrate load --mix data/lmdb/train:0.7,data/png-map/train:0.3
  feedrate load data/packed --recipe imagenet-train --device cuda --decode device
)",
    .prepare = prepare_load};

}  // namespace feedrate::tools
