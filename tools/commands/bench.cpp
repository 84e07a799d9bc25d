#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "formats/cores.h"
#include "formats/statistics.h"
#include "formats/verify.h"
#include "loader/recipe.h"
#include "tools/bench/measure.h"
#include "tools/bench/plan.h"
#include "tools/bench/results_file.h"
#include "tools/build_info.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/devices.h"
#include "tools/environment.h"
#include "tools/help.h"
#include "tools/text.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

struct Options {
  BenchOptions bench;
  std::filesystem::path out;
  bool resume = false;
};

/// What bench needs to know of a path: the sidecar says it, or every image is read once.
BenchDataset examine(const std::filesystem::path& path) {
  const std::unique_ptr<Dataset> dataset = open_dataset(path);
  const DatasetInfo& info = dataset->info();
  BenchDataset found{path, info.format, info.codec, ""};
  if (info.sidecar) found.digest = info.sidecar->digest;
  if (found.digest.empty()) {
    note(fmt::format("{} has no digest beside it; reading every image once", path.string()));
    const Verification result = verify(*dataset, usable_cores());
    if (!result.findings.empty()) {
      fail(result.findings.front().place, result.findings.front().problem);
    }
    found.digest = result.digest.digest;
  }
  return found;
}

std::vector<BenchDataset> examine_all(const std::vector<std::filesystem::path>& paths) {
  std::vector<BenchDataset> datasets;
  for (const auto& path : paths) datasets.push_back(examine(path));
  for (const BenchDataset& dataset : datasets) {
    if (dataset.digest == datasets.front().digest) continue;
    fail(dataset.path, "holds other images than ", datasets.front().path,
         ", so their rates would not compare ('feedrate verify --against' names the difference)");
  }
  return datasets;
}

/// Names are looked up before the first minute of measuring, not after it.
void check_names(const BenchOptions& options) {
  recipe(options.recipe);
  for (const std::string& name : options.networks) network(name);
  if (options.networks.empty()) return;
  usable_backend(options.device);
}

void warn_of_doubts(const BenchOptions& options, unsigned cores) {
  const std::string_view build = build_info().build_type;
  if (build != "Release" && build != "RelWithDebInfo") {
    warn(fmt::format("this is a {} build: its rates say nothing of a release", build));
  }
  const unsigned most = *std::max_element(options.threads.begin(), options.threads.end());
  if (most > cores) warn(fmt::format("{} loader threads on {}", most, counted(cores, "core")));
}

/// "5,012 images/s (95 % interval 4,950 to 5,074), spread 1.2 %"
std::string rate_text(const Run& row) {
  std::string text = fmt::format("{} images/s", quantity(row.images_per_second));
  if (const auto interval = mean_interval(row.repeats)) {
    text += fmt::format(" (95 % interval {} to {}), spread {:.1f} %",
                        quantity(std::max(0.0, interval->low)), quantity(interval->high),
                        spread_percent(row));
  }
  return text;
}

int run(const Options& options) {
  const BenchOptions& bench = options.bench;
  check_names(bench);
  const unsigned cores = usable_cores();
  std::vector<BenchPoint> points = plan_bench(bench, examine_all(bench.paths), cores);
  ResultsFile results(options.out, options.resume ? Existing::resume : Existing::refuse);
  std::erase_if(points, [&](const BenchPoint& point) {
    return std::any_of(results.rows().begin(), results.rows().end(),
                       [&](const Run& row) { return same_point(row, point.row); });
  });
  warn_of_doubts(bench, cores);
  const double least = static_cast<double>(points.size()) * bench.repeat * bench.seconds;
  note(fmt::format("{}, {} of {} each: {} at least", counted(points.size(), "point"),
                   counted(bench.repeat, "repeat"), duration_text(bench.seconds),
                   duration_text(least)));
  const std::string command = command_line();
  for (std::size_t i = 0; i < points.size(); ++i) {
    Run row = measure(points[i], bench);
    row.environment = describe_environment(command, row.dataset);
    results.add(row);
    note(fmt::format("{}/{} {}: {}", i + 1, points.size(), points[i].title(), rate_text(row)));
  }
  note(fmt::format("{} in {}; 'feedrate report {}' reads them",
                   counted(results.rows().size() + points.size(), "row"), options.out.string(),
                   options.out.string()));
  return exit_done;
}

class BenchCommand : public Command {
 public:
  BenchCommand() : Command("bench", "Measures supply, demand and delivered images/s") {}

  std::string_view description() const override {
    return "Measures what the loader can supply, what the trainer can take (demand) and what "
           "arrives\n"
           "when both work (delivered), for each dataset and each number of loader threads. Every\n"
           "repeat is a fresh process; points come in an order drawn from the seed. One JSON line "
           "a\n"
           "point is added to the results, with the machine, the build and the digest of the "
           "images.\n"
           "The datasets must hold the same images. A CPU trainer has every core at every number\n"
           "of loader threads.";
  }
  std::string_view examples() const override {
    return "  feedrate bench data/lmdb/train data/recordio/train data/png-map/train \\\n"
           "      --network lenet --threads 0,1,2,4 --out results.jsonl\n"
           "  feedrate bench data/lmdb/train --threads 1,2 --repeat 5 --out supply.jsonl\n";
  }
  std::string_view advice() const override {
    return "Rows measured so far are kept; the same command with --resume measures the rest.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    BenchOptions& bench = options->bench;
    app.add_option("PATH", bench.paths, "Datasets that hold the same images")->required();
    app.add_option("--out", options->out, "File of results, one JSON line a point")
        ->type_name("FILE")
        ->required();
    app.add_flag("--resume", options->resume, "Measure only the points that the file lacks");
    add_threads(app, "--threads", bench.threads, "Loader threads to try (default 0,1,2,4)");
    app.add_option("--network", bench.networks, "Networks to train; without, supply alone")
        ->type_name("NAME,…")
        ->delimiter(',');
    auto* repeat = app.add_option("--repeat", bench.repeat, "Processes for each point");
    check_whole(repeat, 1, 1000)->type_name("N")->capture_default_str();
    auto* seconds = app.add_option("--seconds", bench.seconds, "Length of each repeat");
    check_positive(seconds)->type_name("S")->capture_default_str();
    add_batch(app, bench.batch)->capture_default_str();
    app.add_option("--recipe", bench.recipe, "Augmentation")
        ->type_name("NAME")
        ->capture_default_str();
    add_threads(app, "--compute-threads", bench.compute_threads,
                "Threads of a CPU trainer (default: every core)");
    app.add_option("--device", bench.device, "Where to train")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--precision", bench.precision, "fp32, tf32, bf16 or fp16")
        ->type_name("NAME")
        ->capture_default_str();
    add_seed(app, bench.seed);
    return [options] { return run(*options); };
  }
};

const BenchCommand the_command;

}  // namespace

extern const Command& bench_command;
const Command& bench_command = the_command;

}  // namespace feedrate
