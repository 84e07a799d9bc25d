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
  app.add_option("COMMAND", options->command, "The command and its arguments, behind '--'");
  add_option(app,
             {.name = "sweep",
              .sentence = "Pause once to measure the loader at other numbers of workers",
              .without = "Do not pause to measure the loader at other numbers of workers"},
             options->sweep);
  add_option(app,
             {.name = "seconds",
              .unit = "S",
              .sentence = "Time at each number of workers, in the pause",
              .range = above_zero},
             options->seconds);
  add_option(
      app,
      {.name = "swap",
       .sentence = "Put Feedrate's loader in the place of each DataLoader that it can replace"},
      options->swap);
  add_option(
      app,
      {.name = "threads",
       .unit = "N",
       .sentence = "With --swap: its threads, at least 1, or as many as the script has workers",
       .min = 1,
       .max = loader::max_loader_threads,
       .nothing = "workers"},
      options->threads);
  add_output(app,
             {.name = "--convert",
              .description = "DIR: with --swap: convert the data first, into this directory",
              .use = PathUse::fills},
             options->convert);
  add_option(
      app,
      {.name = "restart",
       .unit = "STEPS",
       .sentence = "Then start the command again at other numbers of workers, and end it after "
                   "as many steps",
       .min = 10,
       .max = 1'000'000,
       .nothing = "never"},
      options->restart);
  add_output(app,
             {.name = "--out",
              .description = "FILE: add what was measured, as rows that 'feedrate report' reads",
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
    .summary = "Says what limits a PyTorch script, and how many workers would do",
    .description =
        R"(Runs a command that trains with PyTorch as it is, and watches its DataLoaders: how long the
loop waits for data, what a sample costs inside a worker, and which part of that. Then it
says what the limit is, what removing it would bring, and which line to change. The
training computes the same bits as without; its exit code is the command's.

Once, after 10 steps and --seconds, the training pauses, and a copy of the process loads
with other numbers of workers, up to the cores that it may use, for --seconds each.
--no-sweep predicts only.

With --restart, the command is afterwards started again, from its beginning and in silence, with
0, 1, 2, 4 … workers, and ended after so many steps of the loop: that measures the loop itself.
Do so only where it may run several times: it writes what it writes.

With --swap, the script's DataLoaders are left aside where Feedrate can yield the same batches:
of torchvision's ImageFolder, CIFAR and MNIST, timm's ImageDataset and Hugging Face's datasets,
under transforms that are parts of recipes. Both are then measured alone in that pause, in turns, and
their pixels compared; where ranks train together, only the pixels are. Of loaders that are made alike,
as one for each validation, the first is measured. What cannot be replaced stays, with the reason.
The script needs the package feedrate.

With --out, the measured rates are added to a file of results: 'feedrate report FILE --html PAGE'
draws images/s over workers and where the time of an image goes. Rows of several runs of one
script, in its place, are repeats of one measurement.

The command's output goes where it would; the diagnosis follows on stderr. With --json, it
goes to stdout, and the command's own stdout to stderr. A loop over anything but a
DataLoader is seen if it is over 'feedrate.diagnose.wrap(batches)'.)",
    .examples = R"(  feedrate diagnose -- python train.py --epochs 1
  feedrate diagnose --restart 200 -- python train.py
  feedrate diagnose --swap -- python train.py
  feedrate diagnose --out script.jsonl -- python train.py
  feedrate diagnose --no-sweep --json -- torchrun --nproc-per-node 2 train.py
)",
    .prepare = prepare_diagnose};

}  // namespace feedrate::tools
