#include <fmt/format.h>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "loader/loader.h"
#include "tools/console/advised_error.h"
#include "tools/console/bars.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/terminal.h"
#include "tools/console/text.h"
#include "tools/lab/bench/results_file.h"
#include "tools/lab/diagnose/diagnosis.h"
#include "tools/lab/diagnose/listener.h"
#include "tools/lab/diagnose/run.h"
#include "tools/lab/diagnose/script_rows.h"
#include "tools/lab/measure/environment.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/parser.hpp"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct DiagnoseRequest {
  std::vector<std::string> command;
  bool sweep = true;
  double seconds = 3;
  bool swap = false;
  std::optional<unsigned> threads{};
  std::filesystem::path convert{};
  std::optional<std::uint64_t> restart{};
  std::filesystem::path out{};
  bool json = false;
};

bool stops_us(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

/// Runs the command anew with other numbers of workers, up to the steps that were asked for. Ends where a signal
/// ended it, which is kept in `signal`.
std::vector<Restarted> restarts(const DiagnoseRequest& options, const Diagnosis& found,
                                int& signal) {
  std::vector<Restarted> all;
  const Loop& loop = found.loops.front();
  for (const std::uint64_t workers : numbers_of_workers(usable_cores())) {
    note(fmt::format("restarting it with {}", counted(workers, "worker")));
    Listener listener(
        {.sweep = false,
         .restart =
             Restart{.where = loop.made.where, .workers = workers, .steps = *options.restart}});
    const Ended ended = run_with_probe(options.command, listener.directory(), OutputTo::nowhere);
    all.push_back(restarted(found, workers, listener.finish()));
    if (stops_us(ended.signal)) {
      signal = ended.signal;
      all.pop_back();
      break;
    }
    if (!all.back().delivered && ended.code != 0) {
      all.back().problem += fmt::format(", and ended with exit code {}", ended.code);
    }
  }
  return all;
}

void add_rows(ResultsFile& file, const std::filesystem::path& path, const Diagnosis& found) {
  const std::vector<Row> rows = script_rows(found, describe_environment(command_line()));
  for (const Row& row : rows) file.add(row);
  if (rows.empty()) {
    warn(fmt::format("nothing was measured, so {} gets no row", path.string()));
  } else {
    note(fmt::format("{} added to {}; 'feedrate report' draws them", counted(rows.size(), "row"),
                     path.string()));
  }
}

int run_diagnose(const DiagnoseRequest& options) {
  if (!options.swap && (options.threads || !options.convert.empty())) {
    throw Misused("--threads and --convert are about --swap");
  }
  if (options.swap && options.restart) {
    throw Misused("--restart tries other numbers of workers, of which --swap leaves none");
  }
  std::optional<ResultsFile> results;  // opened first: a run is long
  if (!options.out.empty()) results.emplace(options.out, Existing::resume);
  Listener listener({.sweep = options.sweep,
                     .seconds = options.seconds,
                     .cores = usable_cores(),
                     .swap = options.swap,
                     .threads = options.threads,
                     .converted_to = options.convert});
  Ended ended;
  try {
    ended = run_with_probe(options.command, listener.directory(),
                           options.json ? OutputTo::our_stderr : OutputTo::our_stdout);
  } catch (const NotStarted& error) {
    complain("feedrate diagnose", error.what(),
             "Write the command as you would without Feedrate, behind '--'.");
    return error.code();
  }
  const Seen seen = listener.finish();
  for (const std::string& trouble : seen.troubles) {
    warn("the probe could not watch " + harmless(trouble));
  }
  Diagnosis found = diagnose(seen, options.command, usable_cores());
  found.code = ended.signal != 0 ? 128 + ended.signal : ended.code;
  if (options.restart && found.problem.empty() && found.code == 0 &&
      !found.loops.front().made.wrapped) {
    found.restarts = restarts(options, found, ended.signal);
  }
  if (results) add_rows(*results, options.out, found);
  results.reset();
  if (options.json) {
    print(found.json());
  } else {
    say("\n" + found.text(text_columns(STDERR_FILENO)));
  }
  // Not by a signal that a debugger or a core file belongs to: those are the command's.
  if (stops_us(ended.signal)) die_of(ended.signal);
  return found.code;
}

std::function<int()> prepare_diagnose(CLI::App& app) {
  auto options = std::make_shared<DiagnoseRequest>();
  static_cast<Parser&>(app).runs_command = true;
  app.add_option("COMMAND", options->command, "The command that trains, with its arguments");
  add_option(app,
             {.name = "sweep",
              .sentence = "Pause once to try other numbers of workers",
              .without = "Don't pause to try other numbers of workers"},
             options->sweep);
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Time for each number of workers tried",
              .range = above_zero},
             options->seconds);
  add_option(app, {.name = "swap", .sentence = "Replace DataLoaders by Feedrate's where possible"},
             options->swap);
  add_option(app,
             {.name = "threads",
              .unit = "N",
              .sentence = "With --swap: loader threads",
              .detail = "At least 1. workers: as many threads as the script has workers.",
              .min = 1,
              .max = loader::max_loader_threads,
              .nothing = "workers"},
             options->threads);
  add_output(app,
             {.name = "--convert",
              .description = "With --swap: convert the data into DIR first",
              .use = PathUse::fills},
             options->convert);
  add_option(app,
             {.name = "restart",
              .unit = "STEPS",
              .sentence = "Rerun with other numbers of workers",
              .min = 10,
              .max = 1'000'000,
              .nothing = "never"},
             options->restart);
  add_output(app,
             {.name = "--out",
              .description = "Add the results to FILE, for 'feedrate report'",
              .use = PathUse::writes},
             options->out);
  add_json(app, options->json);
  return [options, &app] {
    const std::vector<std::string>& behind = static_cast<const Parser&>(app).command;
    if (!behind.empty() && !options->command.empty()) {
      throw Misused(
          join("expected only options before '--', found '", options->command.front(), "'"));
    }
    if (!behind.empty()) options->command = behind;
    if (options->command.empty() || options->command.front().empty()) {
      throw Misused("expected '-- COMMAND', found no command");
    }
    return run_diagnose(*options);
  };
}

}  // namespace

extern const Command diagnose_command;
const Command diagnose_command{
    .name = "diagnose",
    .job = Job::bottleneck,
    .summary = "Find what slows a PyTorch script, and how many workers it needs",
    .description =
        R"(Run a PyTorch training script unchanged, measure how long it waits for data and why, and
say which line to change. The training computes the same result; diagnose exits with the
script's exit code.)",
    .details =
        R"(--seconds: After 10 steps and this time, the training pauses once, and a copy of the process
loads with other numbers of workers, this long with each.
--no-sweep: Predict the effect of other numbers of workers from the run alone.
--swap: Replaces DataLoaders over torchvision's ImageFolder, CIFAR and MNIST, timm's ImageDataset
and Hugging Face's datasets, if their transforms have equivalents in recipes. During the pause,
both loaders are measured alone, in turns, and their pixels compared; with several ranks, only
the pixels. Of loaders that are made alike, the first is measured. A DataLoader that cannot be
replaced stays, and the reason is printed. The script's Python needs the package feedrate.
--restart: The script starts again from its beginning with 0, 1, 2, 4 … workers, its output hidden,
and ends after STEPS steps. This measures the training loop itself. Use it only with a script that may run several
times: each run writes what the script writes.
--out: 'feedrate report FILE --html PAGE' draws images/s against workers, and the time per image.
Repeated runs of one script count as repeats of one measurement.
--json: The script's own stdout then goes to stderr.)",
    .notes =
        R"(The script's output is passed through; the diagnosis follows on stderr. A loop over something
other than a DataLoader is measured if it loops over 'feedrate.diagnose.wrap(batches)'.)",
    .examples = R"(  feedrate diagnose -- python train.py --epochs 1
  feedrate diagnose --restart 200 -- python train.py
  feedrate diagnose --swap -- python train.py
  feedrate diagnose --out script.jsonl -- python train.py
  feedrate diagnose --no-sweep --json -- torchrun --nproc-per-node 2 train.py
)",
    .prepare = prepare_diagnose};

}  // namespace feedrate::tools
