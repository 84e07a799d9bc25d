#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "formats/base/text.h"
#include "formats/dataset.h"
#include "formats/io/page_cache.h"
#include "formats/io/replace.h"
#include "loader/drive.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/cli/text.h"
#include "tools/commands/log_options.h"
#include "tools/logs/logs.h"
#include "tools/measure/sampler.h"
#include "tools/run/cold.h"
#include "tools/run/load_report.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

constexpr std::uint64_t max_io_threads = 64;
constexpr std::uint64_t max_ranks = 65536;

struct Options {
  std::filesystem::path path;
  std::string recipe = "none";
  LoaderOptions loader;
  DriveOptions drive;
  std::vector<double> means;       // of numbers; none: 0
  std::vector<double> deviations;  // none: 1
  bool no_shuffle = false;
  bool no_digest = false;
  bool cold = false;
  std::string from;
  std::string last = "partial";
  std::string on_bad = "fail";
  std::filesystem::path quarantine;
  std::filesystem::path trace;
  LogPaths logs;
  bool json = false;
};

/// Shows and logs how far `loader` is while the calling thread drives it.
class Watch {
 public:
  Watch(const Loader& loader, std::uint64_t total, Logs& logs)
      : progress_("load", "images"),
        thread_([this, &loader, total, &logs](const std::stop_token& stop) {
          try {
            watch(stop, loader, total, logs);
          } catch (const std::exception&) {
            failure_ = std::current_exception();
          }
        }) {}
  /// Throws what it threw: a log could not be written.
  void end() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void watch(const std::stop_token& stop, const Loader& loader, std::uint64_t total, Logs& logs) {
    std::unique_lock lock(mutex_);
    for (bool last = false; !last;) {
      wake_.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
      last = stop.stop_requested();
      const LoaderStats stats = loader.stats();
      progress_.update(stats.images, total);
      logs.progress(fields_of(stats));
    }
  }

  Progress progress_;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: stops and joins before the rest goes
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
  loader.first_epoch = *epoch;
  loader.first_position = *position;
  return true;
}

void quarantine(const Options& options, const Loader& loader) {
  if (!options.quarantine.empty()) write_quarantine(options.quarantine, loader.bad_samples());
}

LoadReport load(const Options& options) {
  // What is written when all is measured is looked at before it begins.
  for (const std::filesystem::path& file : {options.quarantine, options.trace}) {
    if (!file.empty()) replaceable(file);
  }
  const std::unique_ptr<Dataset> dataset = open_dataset(options.path);
  const Recipe& augment = recipe(options.recipe);
  LoaderOptions settings = options.loader;
  settings.scales =
      make_scales(options.means, options.deviations, augment.shape(dataset->info().shape).channels);
  settings.shuffle = !options.no_shuffle;
  settings.last = last_batch(options.last);
  settings.on_bad = bad_policy(options.on_bad);
  settings.trace = !options.trace.empty();
  if (options.drive.seconds > 0) settings.epochs = 0;
  if (settings.tune) {
    // A trainer has a thread that wants a core, an emulated one too.
    settings.threads = settings.max_threads =
        loader_cores(options.drive.emulate_images_per_second > 0);
  }
  Logs logs(options.logs);
  Fields run = {{"run", "load"},
                {"dataset", options.path.string()},
                {"recipe", options.recipe},
                {"batch", settings.batch},
                {"seed", settings.seed},
                {"images", dataset->size()}};
  if (options.cold) run.push_back({"cold", true});
  logs.begin(std::move(run));
  LoadReport loaded;
  if (options.cold) loaded.in_memory = make_cold(*dataset);
  loaded.batch = settings.batch;
  loaded.pixels = settings.pixels;
  loaded.skips = settings.on_bad == BadPolicy::skip;
  const std::uint64_t before = bytes_from_disk();
  {
    Loader loader(*dataset, augment, settings);
    try {
      Watch watch(loader, settings.epochs * dataset->size(), logs);
      Sampler sampler;
      DriveOptions drive_options = options.drive;
      drive_options.first_batch = [&] { sampler.enter(Section::measured); };
      loaded.result = drive(loader, drive_options);
      loaded.telemetry =
          loaded.result.from_start ? sampler.measured_from_start() : sampler.measured();
      watch.end();
    } catch (const Error&) {
      quarantine(options, loader);  // when the budget is used up the list is wanted most
      throw;
    }
    quarantine(options, loader);
    loaded.bad_samples = loader.bad_samples().size();
    loaded.storage_bytes = bytes_from_disk() - before;
    loaded.stats = loader.stats();
    logs.end();
    loaded.threads = loaded.stats.threads;
    if (settings.tune) loaded.tuning = loader.tuning();
    loaded.state = loader.state();
    if (settings.trace) loader.write_trace(options.trace);
  }
  if (dataset->size() > 0) {
    loaded.epochs =
        static_cast<double>(loaded.result.images) / static_cast<double>(dataset->size());
  }
  if (!options.no_digest) {
    // A pass of its own: hashing must not slow what is measured.
    settings.epochs = 1;
    settings.trace = false;
    settings.tune = false;
    Loader loader(*dataset, augment, settings);
    loaded.digest = drive(loader, {.digest = true}).digest;
  }
  return loaded;
}

int run(const Options& options) {
  const LoadReport loaded = load(options);
  print(options.json ? loaded.json() : loaded.text());
  if (!options.trace.empty()) {
    note(fmt::format("wrote {}; ui.perfetto.dev shows it", options.trace.string()));
  }
  return exit_done;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PATH", options->path, "The dataset")->required();
  add_threads(app, "--threads", options->loader.threads, options->loader.tune,
              "Loader threads, or auto; 0 loads in the consumer's own");
  add_batch(app, options->loader.batch)->capture_default_str();
  add_name(app, "--recipe", options->recipe,
           "Crop, resize and flip; 'feedrate list recipes' tells which");
  add_pixels(app, options->loader.pixels);
  add_mean(app, options->means)->needs("--pixels");
  add_deviation(app, options->deviations)->needs("--pixels");
  auto* epochs = app.add_option("--epochs", options->loader.epochs, "Passes over the dataset")
                     ->type_name("N")
                     ->capture_default_str();
  auto* seconds = app.add_option("--seconds", options->drive.seconds, "Load for so long instead")
                      ->type_name("S")
                      ->excludes(epochs);
  check_whole(epochs, 1, 1'000'000);
  check_positive(seconds);
  add_seed(app, options->loader.seed);
  auto* unshuffled =
      app.add_flag("--no-shuffle", options->no_shuffle, "Keep the dataset's own order");
  check_whole(app.add_option("--shuffle-window", options->loader.shuffle_window,
                             "Shuffle among so many neighbours only (media that read in order)"),
              2)
      ->type_name("N")
      ->excludes(unshuffled);
  app.add_option("--last", options->last, "What fills no batch at the end: partial, drop, wrap")
      ->type_name("HOW")
      ->check(CLI::IsMember({"partial", "drop", "wrap"}).description(""))
      ->capture_default_str();
  auto* rank =
      app.add_option("--rank", options->loader.rank, "Load the part of rank R …")->type_name("R");
  auto* ranks = app.add_option("--ranks", options->loader.ranks, "… of N that share each epoch")
                    ->type_name("N");
  check_whole(rank, 0, max_ranks - 1)->needs(ranks);
  check_whole(ranks, 1, max_ranks)->needs(rank);
  app.callback([options] {
    const LoaderOptions& loader = options->loader;
    if (loader.pixels == PixelType::u8 && options->means.size() + options->deviations.size() > 0) {
      throw CLI::ValidationError("--mean and --deviation make numbers: with --pixels f32 or f16");
    }
    if (loader.rank < loader.ranks) return;
    throw CLI::ValidationError(fmt::format("--rank {} of {}; ranks count from 0 to {}", loader.rank,
                                           loader.ranks, loader.ranks - 1));
  });
  app.add_option("--from", options->from, "Go on at a state of that seed: EPOCH or EPOCH:IMAGES")
      ->type_name("STATE")
      ->check([options](const std::string& text) {
        return read_state(text, options->loader)
                   ? std::string()
                   : fmt::format("expected EPOCH or EPOCH:IMAGES, found '{}'", text);
      });
  check_positive(app.add_option("--emulate", options->drive.emulate_images_per_second,
                                "Take batches as a trainer of so many images/s"))
      ->type_name("RATE");
  app.add_flag("--cold", options->cold,
               "Have the system forget the dataset first: it comes from the disk");
  check_whole(app.add_option("--io-threads", options->loader.io_threads,
                             "Threads that have data read from disk ahead of the workers"),
              0, max_io_threads)
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--on-bad", options->on_bad, "A bad sample: fail, replace it, or skip its seat")
      ->type_name("HOW")
      ->check(CLI::IsMember({"fail", "replace", "skip"}).description(""))
      ->capture_default_str();
  check_whole(app.add_option("--bad-budget", options->loader.bad_budget,
                             "Bad samples that may be before it fails all the same"),
              0)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-digest", options->no_digest, "Spare the pass that computes the digest");
  add_output(app, "--quarantine", options->quarantine,
             "List bad samples: file, offset, index, key, reason");
  add_output(app, "--trace", options->trace, "Write what every thread did, for Perfetto");
  for (const LogKind& log : log_kinds) {
    if (log.follows_load) add_log(app, log, options->logs);
  }
  add_json(app, options->json);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command load_command;
const Command load_command{
    .name = "load",
    .summary = "Measures the loader alone: images/s, stalls, where time goes",
    .description =
        R"(Reads, decodes, augments and batches a dataset with nothing behind the loader, and
tells how fast that goes, where the time went and what limited it. --emulate takes
batches at the pace of a trainer of that speed and tells its utilisation as MLPerf
Storage does, who wants 90 %. --threads auto finds the fewest threads that keep up
with that, within the cores and the quota there are, and leaves a core to the
trainer. --cold measures the first epoch from the disk, and says how much of it was
in memory all the same. The digest of the first epoch, hashed in a pass of its own,
is the same at any number of threads. What a run ends with as its state, --from goes
on from, at any number of threads, ranks or images a batch. Batches hold pixels as
images have them (u8, channels last), or with --pixels f32 or f16 what a CPU trains
on: (pixel - mean) / deviation, one plane a channel.)",
    .examples = R"(  feedrate load data/lmdb/train --threads 2 --seconds 3
  feedrate load data/png-map/train --threads 2 --emulate 6000 --trace trace.json
  feedrate load data/imagenet/train --threads auto --emulate 1786 --seconds 30
)",
    .advice = "'feedrate verify PATH' names every damaged sample of a dataset.",
    .prepare = prepare};

}  // namespace feedrate::tools
