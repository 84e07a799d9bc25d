#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "formats/base/stop.h"
#include "formats/base/text.h"
#include "formats/dataset.h"
#include "formats/io/page_cache.h"
#include "loader/drive.h"
#include "tools/console/advice.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/jobs/load_report.h"
#include "tools/lab/jobs/order_request.h"
#include "tools/lab/logs/logs.h"
#include "tools/lab/measure/sampler.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/order_options.h"
#include "tools/program/commands/load_watch.h"
#include "tools/program/commands/log_options.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

constexpr std::uint64_t max_io_threads = 64;
constexpr std::uint64_t max_ranks = 65536;

struct LoadRequest {
  std::filesystem::path path;
  std::string recipe = "none";
  LoaderOptions loader;
  DriveOptions drive;
  std::vector<double> means;       // empty: 0
  std::vector<double> deviations;  // empty: 1
  std::string layout;              // "": the usual one
  OrderRequest order;
  bool no_shuffle = false;
  bool no_digest = false;
  bool cold = false;
  std::string from;
  std::string last = "partial";
  std::string on_bad = "fail";
  std::filesystem::path quarantine;
  std::filesystem::path trace;
  std::string device = "cpu";
  Decode decode = Decode::full;
  LogPaths logs;
  bool json = false;

  std::optional<PixelLayout> wanted_layout() const {
    if (layout.empty()) return std::nullopt;
    return layout == name(PixelLayout::planar) ? PixelLayout::planar : PixelLayout::interleaved;
  }
};

LastBatch last_batch(const std::string& name) {
  if (name == "drop") return LastBatch::drop;
  return name == "wrap" ? LastBatch::wrap : LastBatch::partial;
}

BadPolicy bad_policy(const std::string& name) {
  if (name == "replace") return BadPolicy::replace;
  return name == "skip" ? BadPolicy::skip : BadPolicy::fail;
}

/// "EPOCH" or "EPOCH:POSITION", as the state is printed.
bool read_state(std::string_view text, LoaderOptions& loader) {
  const std::size_t colon = text.find(':');
  const auto epoch = parse_number<std::uint64_t>(text.substr(0, colon));
  const auto position = colon == std::string_view::npos
                            ? std::uint64_t{0}
                            : parse_number<std::uint64_t>(text.substr(colon + 1));
  if (!epoch || !position) return false;
  loader.start.epoch = *epoch;
  loader.start.position = *position;
  return true;
}

void quarantine(const LoadRequest& options, const Loader& loader) {
  if (!options.quarantine.empty()) write_quarantine(options.quarantine, loader.bad_samples());
}

LoaderOptions loader_settings(const LoadRequest& options, const Recipe& augment, Shape image) {
  LoaderOptions settings = options.loader;
  settings.pixels.set_scales(options.means, options.deviations, augment.shape(image).channels);
  settings.pixels.layout = options.wanted_layout();
  settings.order.shuffle = !options.no_shuffle;
  settings.order.last = last_batch(options.last);
  settings.decoded = size_of(options.decode);
  settings.bad.policy = bad_policy(options.on_bad);
  settings.diagnosis.trace = !options.trace.empty();
  if (options.drive.seconds > 0) settings.epochs = 0;
  if (settings.engine.tune) {
    // The thread of a trainer needs a core, that of an emulated one too.
    settings.threads = settings.engine.max_threads =
        loader_cores(options.drive.emulate_images_per_second > 0);
  }
  return settings;
}

Fields start_of(const LoadRequest& options, const LoaderOptions& settings, const Dataset& dataset,
                std::uint64_t images) {
  Fields start = {{"run", "load"},
                  {"dataset", dataset.info().path.string()},
                  {"recipe", options.recipe},
                  {"decode", std::string(name(options.decode))},
                  {"batch", settings.batch},
                  {"seed", settings.start.seed},
                  {"images", images}};
  if (options.cold) start.push_back({"cold", true});
  return start;
}

LoadReport load(const LoadRequest& options) {
  const GracefulStop graceful;
  // A file that cannot be written is refused before the measurement, not after it.
  for (const std::filesystem::path& file : {options.quarantine, options.trace}) {
    if (!file.empty()) expect_replaceable_outside_data(options.path, options.order, file);
  }
  const auto [dataset, picks] = open_data(options.path, options.order, !options.no_shuffle);
  const Recipe& augment = recipe(options.recipe);
  LoaderOptions settings = loader_settings(options, augment, dataset->info().shape);
  std::optional<DeviceDecoding> device;
  if (options.decode == Decode::device) {
    device.emplace(options.device, *dataset, settings.batch);
    expect_device_decodes(*dataset, augment);
    device->set(settings);
  }
  if (picks) {
    settings.order.picks = picks.get();
    settings.order.shuffle = picks->needs_shuffle();
  }
  const std::uint64_t epoch_size = picks ? picks->size() : dataset->size();
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
      loaded.result = advised(damage_advice, [&] { return drive(loader, drive_options); });
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
  add_dataset(app, options.path, "The dataset", options.order);
  add_threads(app, "--threads", options.loader.threads, options.loader.engine.tune,
              "Loader threads, or auto; 0: load in the consumer's thread");
  add_batch(app, options.loader.batch)->capture_default_str();
  add_name(app, "--recipe", options.recipe, recipe_names(),
           "Augmentation: see 'feedrate list recipes' and 'list parts'");
  add_pixels(app, options.loader.pixels.type);
  add_choice(app, "--layout", options.layout, {"nhwc", "nchw"},
             "Channels last or first; default: nhwc of u8, nchw of f32 and f16");
  add_mean(app, options.means)->needs("--pixels");
  add_deviation(app, options.deviations)->needs("--pixels");
  add_decode(app, options.decode);
  add_name(app, "--device", options.device, device_names(), "The device for --decode device");
}

void add_order_options(CLI::App& app, LoadRequest& options) {
  auto* epochs = app.add_option("--epochs", options.loader.epochs, "Passes over the dataset")
                     ->type_name("N")
                     ->capture_default_str();
  auto* seconds =
      app.add_option("--seconds", options.drive.seconds, "Time to load, instead of --epochs")
          ->type_name("S")
          ->excludes(epochs);
  check_whole(epochs, 1, 1'000'000);
  check_positive(seconds);
  add_seed(app, options.loader.start.seed);
  auto* unshuffled =
      app.add_flag("--no-shuffle", options.no_shuffle, "Keep the order of the dataset");
  check_whole(app.add_option("--shuffle-window", options.loader.order.window,
                             "Shuffle only among N neighbours (for sequential media)"),
              2)
      ->type_name("N")
      ->excludes(unshuffled);
  add_choice(app, "--last", options.last, {"partial", "drop", "wrap"},
             "An incomplete last batch: partial, drop, wrap");
  auto* rank =
      app.add_option("--rank", options.loader.share.rank, "Load the share of rank R, from 0")
          ->type_name("R");
  auto* ranks =
      app.add_option("--ranks", options.loader.share.ranks, "Number of ranks that share each epoch")
          ->type_name("N");
  check_whole(rank, 0, max_ranks - 1)->needs(ranks);
  check_whole(ranks, 1, max_ranks)->needs(rank);
  app.add_option("--from", options.from, "Start at this position: EPOCH or EPOCH:IMAGES")
      ->type_name("STATE")
      ->check([&loader = options.loader](const std::string& text) {
        return read_state(text, loader)
                   ? std::string()
                   : fmt::format("expected EPOCH or EPOCH:IMAGES, found '{}'", text);
      });
}

void add_source_options(CLI::App& app, LoadRequest& options) {
  check_positive(app.add_option("--emulate", options.drive.emulate_images_per_second,
                                "Emulate a trainer that takes RATE images/s"))
      ->type_name("RATE");
  app.add_flag("--cold", options.cold,
               "Drop the dataset from the page cache first, to read from disk");
  check_whole(app.add_option("--io-threads", options.loader.engine.io_threads,
                             "Threads that read from disk ahead of the workers"),
              0, max_io_threads)
      ->type_name("N")
      ->capture_default_str();
  add_no_crop_index(app, options.loader.engine.crop_index);
  add_choice(app, "--on-bad", options.on_bad, {"fail", "replace", "skip"},
             "A bad sample: fail, replace it, or skip it");
  check_whole(app.add_option("--bad-budget", options.loader.bad.budget,
                             "Bad samples to accept before failing anyway"),
              0)
      ->type_name("N")
      ->capture_default_str();
}

void add_load_outputs(CLI::App& app, LoadRequest& options) {
  app.add_flag("--no-digest", options.no_digest, "Skip the pass that computes the digest");
  add_output(app, "--quarantine", options.quarantine,
             "List bad samples: file, offset, index, key, reason");
  add_output(app, "--trace", options.trace, "Record what every thread did, for Perfetto");
  for (const LogKind& log : log_kinds) {
    if (log.follows_load) add_log(app, log, options.logs);
  }
  add_json(app, options.json);
}

/// Refuses options that do not fit together.
void check_options(const LoadRequest& options) {
  const LoaderOptions& loader = options.loader;
  expect_dataset(options.path, options.order);
  const OrderRequest& order = options.order;
  if (loader.order.window != 0 && !(order.order.empty() && order.weights.empty() &&
                                    order.groups.empty() && order.mix.empty())) {
    throw CLI::ValidationError(
        "--shuffle-window is for the order of one dataset, not for --order, --weights, --groups "
        "or --mix");
  }
  if (options.no_shuffle && !(order.weights.empty() && order.groups.empty())) {
    throw CLI::ValidationError("--no-shuffle is not for --weights or --groups, which draw samples");
  }
  if (loader.pixels.type == PixelType::u8 && options.means.size() + options.deviations.size() > 0) {
    throw CLI::ValidationError("--mean and --deviation need --pixels f32 or f16");
  }
  check_device_decode(options.decode, options.device, loader.pixels.type);
  if (options.decode == Decode::device && options.layout == name(PixelLayout::planar)) {
    throw CLI::ValidationError("--decode device needs --layout nhwc");
  }
  if (options.decode != Decode::device && options.device != "cpu") {
    throw CLI::ValidationError("--device " + options.device + " needs --decode device");
  }
  check_decode(options.decode, options.recipe);
  if (loader.share.rank < loader.share.ranks) return;
  throw CLI::ValidationError(fmt::format("--rank {} with --ranks {}: expected 0 to {}",
                                         loader.share.rank, loader.share.ranks,
                                         loader.share.ranks - 1));
}

std::function<int()> prepare_load(CLI::App& app) {
  auto options = std::make_shared<LoadRequest>();
  add_batch_options(app, *options);
  add_order_options(app, *options);
  add_source_options(app, *options);
  add_load_outputs(app, *options);
  app.callback([options] { check_options(*options); });
  return [options] { return run_load(*options); };
}

}  // namespace

extern const Command load_command;
const Command load_command{
    .name = "load",
    .summary = "Measures the loader alone: images/s, stalls, where time goes",
    .description =
        R"(Reads, decodes, augments and batches a dataset without a trainer, and reports the rate,
where the time went and what limited it. --emulate takes batches at the pace of a
trainer of that speed and reports its utilisation as MLPerf Storage does, which asks
for 90 %. --threads auto finds the fewest threads that keep up, within the available
cores and the CPU quota, and leaves a core to an emulated trainer. --cold measures the
first epoch from disk and reports how much of it was still in memory. The digest of
the first epoch is computed in a separate pass and is the same at any number of
threads. --from continues at the state with which an earlier run ended, at any number
of threads or ranks and any batch size. Batches hold u8 pixels or, with --pixels f32
or f16, (pixel - mean) / deviation, in either --layout.

--decode scaled decodes a JPEG at 1/2, 1/4 or 1/8 of its size where the crop is at
least so many times the size that the recipe resizes it to: other pixels, so another
digest. --decode device leaves packed JPEGs (convert --encode packed) packed: the
loader's threads only read them and check their sums, and the GPU decodes, crops,
resizes and mirrors them, to the same pixels and so the same digest. Single images that
are no packed JPEGs, and those too large for their place in a batch, are decoded by the
loader's threads, and counted. Damage is found before the device, and reported as usual.

An epoch holds every sample once, or what one of these says: --order lists samples,
some left out or repeated; --weights draws them with replacement; --groups puts P
different classes with K different samples of each together; --mix draws from
several datasets in these proportions, each sample of one before any comes again.
All are the same at any number of threads, resume anywhere, and are shared by ranks.)",
    .examples = R"(  feedrate load data/lmdb/train --threads 2 --seconds 3
  feedrate load data/png-map/train --threads 2 --emulate 6000 --trace trace.json
  feedrate load data/imagenet/train --threads auto --emulate 1786 --seconds 30
  feedrate load data/imagenet/train --recipe imagenet-train+rand-augment+mixup:alpha=0.2
  feedrate load --mix data/lmdb/train:0.7,data/png-map/train:0.3
  feedrate load data/packed --recipe imagenet-train --device cuda --decode device
)",
    .prepare = prepare_load};

}  // namespace feedrate::tools
