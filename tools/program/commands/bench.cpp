#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/reason.h"
#include "formats/base/statistics.h"
#include "formats/base/stop.h"
#include "tools/console/advised_error.h"
#include "tools/console/build_info.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/lab/advise/hidden_cores.h"
#include "tools/lab/bench/datasets.h"
#include "tools/lab/bench/deciding.h"
#include "tools/lab/bench/emulation.h"
#include "tools/lab/bench/forecast.h"
#include "tools/lab/bench/machine_lock.h"
#include "tools/lab/bench/peer.h"
#include "tools/lab/bench/plan_file.h"
#include "tools/lab/bench/process.h"
#include "tools/lab/bench/rate_text.h"
#include "tools/lab/bench/results_file.h"
#include "tools/lab/bench/rounds.h"
#include "tools/lab/bench/settings.h"
#include "tools/lab/bench/summary.h"
#include "tools/lab/measure/environment.h"
#include "tools/lab/measure/fitting_recipe.h"
#include "tools/lab/report/study/report.h"
#include "tools/lab/report/write/output.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::string_view resume_advice =
    "Rows written so far are kept; the same command with --resume measures the rest.";

struct BenchRequest {
  BenchOptions bench;
  std::filesystem::path plan;   // "": the options are the plan
  std::filesystem::path rates;  // "": the published ones
  std::filesystem::path out;
  bool resume = false;
  bool dry_run = false;
  bool beside_others = false;
  bool json = false;
};

/// Does `work`; its errors name the plan, if there is one.
template <class Work>
auto asked_by(const BenchRequest& options, const Work& work) {
  try {
    return work();
  } catch (const Error& problem) {
    if (options.plan.empty()) throw;
    fail(options.plan, problem.what());
  }
}

/// Only a plan may have datasets of different images; it compares those of the same images.
void refuse_mixed(const std::vector<BenchDataset>& datasets) {
  for (const BenchDataset& dataset : datasets) {
    if (dataset.digest == datasets.front().digest) continue;
    fail(dataset.path, "holds other images than ", datasets.front().path,
         ", so their rates cannot be compared ('feedrate verify --against' names the difference; "
         "--plan measures both)");
  }
}

/// Refuses what it can before it reads the datasets, which may take minutes. Settles the recipe.
std::vector<BenchPoint> make_plan(const BenchRequest& options, BenchOptions& bench, Peers& peers) {
  asked_by(options, [&] {
    check_decodes(bench);
    check_compute_threads(bench);
    check_emulations(bench);
  });
  std::vector<BenchDataset> datasets;
  for (const std::filesystem::path& path : without_repeats(bench.paths)) {
    datasets.push_back(describe_dataset(path));
  }
  for (const BenchDataset& dataset : datasets) {
    if (bench.recipes != std::vector<std::string>{"none"}) break;
    bench.recipes = {fitting_recipe(*open_dataset(dataset.path), "none")};
  }
  std::vector<BenchDataset> unread = datasets;
  for (BenchDataset& dataset : unread) dataset.digest.clear();
  const unsigned cores = usable_cores();
  asked_by(options, [&] { check_points(plan_bench(bench, unread, cores), unread); });
  find_digests(datasets);
  if (options.plan.empty()) refuse_mixed(datasets);
  const auto reads = [&](const Row& row) { return peers.cannot(row).empty(); };
  return asked_by(options, [&] { return plan_bench(bench, datasets, cores, reads); });
}

/// Rows of other machines do not count as done, and rates are not predicted from them.
std::vector<Row> of_this_machine(std::vector<Row> rows) {
  if (rows.empty()) return rows;
  Row own;
  own.environment = describe_environment(command_line());
  const std::string here = machine_of(own);
  std::erase_if(rows, [&](const Row& row) { return machine_of(row) != here; });
  return rows;
}

void leave_out_measured(std::vector<BenchPoint>& points, const std::vector<Row>& rows,
                        unsigned repeat) {
  std::erase_if(points, [&](const BenchPoint& point) {
    std::size_t repeats = 0;  // of several runs, if one was interrupted
    for (const Row& row : rows) {
      if (same_point(row, point.row)) repeats += row.repeats.size();
    }
    return repeats >= repeat;
  });
}

void warn_of_doubts(const std::vector<BenchPoint>& points) {
  std::set<std::string> old;
  for (const BenchPoint& point : points) {
    if (point.emulation && !point.emulation->age.empty()) old.insert(point.emulation->age);
  }
  for (const std::string& age : old) warn(age);
  const std::string_view build = build_info().build_type;
  if (build != "Release" && build != "RelWithDebInfo") {
    warn(fmt::format("this is a {} build: its rates are not those of a release build", build));
  }
  const unsigned cores = usable_cores();
  unsigned max_threads = 0;
  for (const BenchPoint& point : points) {
    max_threads = std::max(max_threads, point.row.threads.value_or(0));
  }
  if (max_threads <= cores) return;
  warn(fmt::format("{} loader threads on {}", max_threads, counted(cores, "core")));
}

void note_prediction_error(const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (const Row& row : rows) {
    if (const auto error = forecast_error_percent(row)) errors.push_back(std::abs(*error));
  }
  if (errors.empty()) return;
  note(fmt::format("{} predicted before measuring, with a median error of {:.1f} %",
                   counted(errors.size(), "delivered rate"), median(errors)));
}

/// The sentences that 'feedrate report' begins with.
void note_verdicts(const std::vector<Row>& rows) {
  for (const Study& study : make_studies(rows)) note(sentence(study, judge(study)));
}

/// Where rows go: into --out, to stdout as JSON lines, or both.
class Results {
 public:
  explicit Results(const BenchRequest& options) : prints_(options.json) {
    if (options.out.empty()) return;
    file_.emplace(options.out, options.resume ? Existing::resume : Existing::refuse);
  }
  bool kept() const { return file_.has_value(); }
  /// Nobody else shows the rows.
  bool wants_report() const { return !file_ && !prints_; }
  std::vector<Row> rows() const { return file_ ? file_->rows() : std::vector<Row>(); }
  void add(const Row& row) {
    if (file_) file_->add(row);
    if (prints_) print(to_json_line(row) + "\n");
  }

 private:
  std::optional<ResultsFile> file_;
  bool prints_;
};

/// Estimates the time left from the time taken so far.
class Remaining {
 public:
  explicit Remaining(std::size_t all) : all_(all) {}
  /// Counts one more as done. Returns "; 3:20 min left", or "" when all are done.
  std::string next() {
    ++done_;
    if (done_ >= all_) return "";  // further rounds are as many as it takes
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto left = static_cast<double>(all_ - done_) / static_cast<double>(done_);
    return fmt::format("; {} left", duration_text(seconds * left));
  }

 private:
  std::size_t all_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void measure_all(const std::vector<BenchPoint>& points, const BenchOptions& bench,
                 const Peers& peers, Results& results) {
  const GracefulStop graceful;
  const std::string command = command_line();
  Remaining remaining(points.size() * bench.repeat);
  std::vector<Row> rows = results.rows();
  const std::size_t before = rows.size();
  RoundsCalls calls;
  calls.begins = [](std::span<const BenchPoint> of_rounds) { make_warm(of_rounds); };
  calls.run = [&](const BenchPoint& point, const std::vector<std::string>& arguments) {
    throw_if_stop_requested();
    return point.row.tool == own_tool ? run_self(arguments) : peers.run(point, bench);
  };
  calls.repeated = [&](const BenchPoint& point, double rate) {
    note(fmt::format("{}: {} images/s{}", point.title(), quantity(rate), remaining.next()));
  };
  calls.finished = [&](const BenchPoint& point, Row row) {
    row.environment = describe_environment(command, row.dataset);
    if (row.tool != own_tool) row.environment.libraries = peers.libraries(row.tool);
    results.add(row);
    rows.push_back(row);
    note(fmt::format("{}/{} {}: {}{}", rows.size() - before, points.size(), point.title(),
                     rate_text(row), remaining.next()));
  };
  Deciding deciding(bench.decide);
  calls.goes_on = [&](std::vector<Row> so_far) {
    if (stop_requested() || !deciding.goes_on(std::move(so_far))) return false;
    note(fmt::format("the answer is not clear yet; measuring for up to {} more",
                     duration_text(deciding.left())));
    return true;
  };
  try {
    measure_in_rounds(points, bench, of_this_machine(results.rows()), usable_cores(), calls);
  } catch (const std::exception& error) {  // a measurement that the signal ended throws an Error
    if (!stop_requested() && results.kept() && rows.size() > 0) {
      throw AdvisedError(reason_of(error), resume_advice);
    }
    if (!stop_requested()) throw;
    note(fmt::format("interrupted; {} measured{}", counted(rows.size(), "point"),
                     results.kept() ? "; the same command with --resume measures the rest" : ""));
  }
  note_prediction_error(rows);
  if (!results.wants_report()) return note_verdicts(rows);
  if (!rows.empty()) print(report_text(make_report(rows)));
}

/// Leaves out what the adapters cannot measure, and says so. Throws Error where that is everything.
void leave_out_unable(Peers& peers, std::vector<BenchPoint>& points) {
  const bool planned = !points.empty();
  const std::vector<std::string> reasons = peers.leave_out(points);
  if (planned && points.empty()) {
    throw Error(fmt::format("nothing can be measured: {}", fmt::join(reasons, ". ")));
  }
  for (const std::string& reason : reasons) note(reason);
}

int show_plan(const BenchRequest& options, BenchOptions& bench) {
  Peers peers;
  std::vector<BenchPoint> points = make_plan(options, bench, peers);
  if (options.resume && std::filesystem::exists(options.out)) {
    leave_out_measured(points, of_this_machine(read_rows(options.out).rows), bench.repeat);
  }
  leave_out_unable(peers, points);
  print(options.json ? plan_json(points, bench) : plan_text(points, bench));
  return exit_done;
}

/// The plan and the datasets that it names.
std::vector<std::filesystem::path> planned_paths(const std::filesystem::path& plan) {
  std::vector<std::filesystem::path> paths = read_plan(plan).paths;
  paths.push_back(plan);
  return paths;
}

int run_bench(const BenchRequest& options) {
  BenchOptions bench = options.plan.empty() ? options.bench : read_plan(options.plan);
  bench.rates = known_rates(options.rates);
  const std::unique_ptr<HiddenCores> hidden = hide_all_but(bench.cores);
  remote_settings() = bench.remote;
  if (options.dry_run) return show_plan(options, bench);
  Results results(options);
  std::optional<MachineLock> alone;
  if (!options.beside_others) alone.emplace();
  Peers peers;
  std::vector<BenchPoint> points = make_plan(options, bench, peers);
  leave_out_measured(points, of_this_machine(results.rows()), bench.repeat);
  leave_out_unable(peers, points);
  warn_of_doubts(points);
  std::string plan = plan_text(points, bench);
  plan.pop_back();  // note() ends the line
  note("the plan:\n" + plan);
  measure_all(points, bench, peers, results);
  throw_if_stop_requested();
  if (results.kept()) {
    note(fmt::format("{} in {}; 'feedrate report {}' reads them",
                     counted(results.rows().size() + points.size(), "row"), options.out.string(),
                     options.out.string()));
  }
  return exit_done;
}

std::function<int()> prepare_bench(CLI::App& app) {
  auto options = std::make_shared<BenchRequest>();
  BenchOptions& bench = options->bench;
  auto* paths = add_input(app, "PATH", bench.paths, "Datasets that hold the same images");
  auto* plan =
      add_paths(app, app.add_option("--plan", options->plan, "Measure the plan in this JSON file"),
                {.paths = [options] { return planned_paths(options->plan); }})
          ->type_name("FILE");
  add_input(app, "--rates", options->rates, published_or_own_rates)->type_name("FILE");
  auto* out = add_output(app,
                         {.name = "--out",
                          .description = "Add results to this file (default: print a report)",
                          .use = PathUse::writes},
                         options->out);
  app.add_flag("--resume", options->resume, "Skip combinations already in --out")->needs(out);
  app.add_flag("--dry-run", options->dry_run, "Print the plan and stop");
  app.add_flag("--beside-others", options->beside_others,
               "Measure even while another bench runs on this machine");
  add_json(app, options->json)
      ->description("Print results as JSON lines; with --dry-run, the plan");
  app.final_callback([=] {
    if (paths->empty() && plan->empty()) throw CLI::RequiredError("PATH or --plan");
  });
  std::vector<CLI::Option*> planned = {paths};
  for_each_list(bench, [&](std::string_view, const Setting& row, auto& list) {
    planned.push_back(add_list(app, bound_list(row, list)));
  });
  for (const BoundSetting& one : bound_settings(bench)) planned.push_back(add_option(app, one));
  add_cache_path(app, bench.remote);
  for (CLI::Option* option : planned) plan->excludes(option);
  return [options] { return run_bench(*options); };
}

}  // namespace

extern const Command bench_command;
const Command bench_command{
    .name = "bench",
    .job = Job::measurement,
    .summary = "Measure supply, demand and delivered images/s",
    .description =
        R"(Measure how fast the loader is alone (supply), the trainer alone (demand) and both together
(delivered), for every combination of the values given. Without --out, print the report.)",
    .common =
        "--threads --network --emulate --recipe --batch --tool --repeat --seconds --decide --out "
        "--resume --dry-run --json",
    .details =
        R"(--threads: A CPU trainer uses every core, whatever the number of loader threads.
--network: On a GPU, demand is also measured without copies to the device (compute).
--emulate: h100 is a device whose rate was published ('feedrate list rates'), h100x8 are eight fed
by one loader, 2500 is a rate in images/s. A thread takes batches at that rate and keeps as many
cores busy as the threads driving a real GPU would. Results are marked as emulated.
--decode: full,device measures packed JPEGs twice: decoded by loader threads, and by the GPU.
--tool: Each other tool trains the same network on the same dataset with its own loader, run by
python3 or the interpreter in FEEDRATE_PYTHON. pytorch:compile uses torch.compile, and
pytorch:cuda-graph a CUDA graph. pytorch+feedrate trains in PyTorch with Feedrate's loader, and
needs the package feedrate. What is not installed, or does not support a combination, is left
out and named.
--repeat: Each repeat is a fresh process. Repeats of all combinations are mixed, in an order drawn
from the seed, so that a change in the speed of the machine affects all alike.
--cache: warm reads the datasets into memory first. cold drops them from the page cache before
each repeat.
--resume: A combination is skipped if it was measured on the same machine, with as many repeats.
--plan: Measures several sets of images, with exclusions: 'feedrate help plans'.
--out: One JSON line per combination, with the machine, the build and the digest of the images.)",
    .examples = R"(  feedrate bench data/lmdb/train --threads 0-2
  feedrate bench data/lmdb/train data/recordio/train data/png-map/train \
      --network lenet --threads 0,1,2,4 --out results.jsonl
  feedrate bench data/lmdb/train --threads 1,2 --repeat 5 --out supply.jsonl
  feedrate bench data/lmdb/train --network lenet --tool feedrate,pytorch \
      --threads 0,1,2,4 --out peers.jsonl
  feedrate bench data/imagenet --recipe imagenet-train --network resnet50 --emulate h100 \
      --batch 256 --threads 1-4 --seconds 5
  feedrate bench --plan plan.json --dry-run
  feedrate bench --plan plan.json --out results.jsonl --resume
)",
    .prepare = prepare_bench};

}  // namespace feedrate::tools
