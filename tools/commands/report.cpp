#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <vector>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/cli/text.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path results;
  fs::path html;
  fs::path csv;
  fs::path svg;
  std::vector<fs::path> training;
  bool json = false;
};

void write(const fs::path& file, const std::string& text) {
  write_text(file, text);
  note(fmt::format("wrote {}", file.string()));
}

void write_charts(const fs::path& directory, const Report& report) {
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (problem) fail(directory, "cannot make this directory: ", problem.message());
  const std::vector<ChartFile> files = report_svg(report);
  for (const ChartFile& file : files) write_text(directory / file.name, file.text);
  note(fmt::format("wrote {} to {}", counted(files.size(), "chart"), directory.string()));
}

int run(const Options& options) {
  Rows rows = read_rows(options.results);
  for (const std::string& problem : rows.refused) warn("left out: " + problem);
  const Report report = make_report(std::move(rows.runs), read_trainings(options.training));
  if (!options.html.empty()) write(options.html, report_html(report));
  if (!options.csv.empty()) write(options.csv, report_csv(report));
  if (!options.svg.empty()) write_charts(options.svg, report);
  print(options.json ? report_json(report) + "\n" : report_text(report));
  return exit_done;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("RESULTS", options->results, "Rows of 'feedrate bench'")->required();
  add_output(app, "--html", options->html, "Write one page with curves, opened without a network");
  add_output(app, "--csv", options->csv, "Write every row as CSV");
  add_output(app, "--svg", options->svg, "Write each chart as an SVG file into this directory",
             "DIR");
  app.add_option("--training", options->training,
                 "What 'feedrate train --json' printed: adds how the training went")
      ->type_name("FILE");
  add_json(app, options->json);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command report_command;
const Command report_command{
    .name = "report",
    .summary = "Answers how many threads and which format, from a bench",
    .description =
        R"(Reads the rows of a bench and answers how many loader threads to use and which format,
with the figures behind it: the fewest threads that deliver within 3 % of the best, and
what limits there. Differences smaller than the spread of the repeats count as none.
Rows of different images are never put into one chart; what makes rows doubtful is said.
Shows too where the time of an image goes, how far predictions were off and what a
format costs in time, memory and energy.)",
    .examples = R"(  feedrate report results.jsonl
  feedrate report results.jsonl --html report.html --csv results.csv
  feedrate report results.jsonl --training lenet.json --svg charts --html report.html
)",
    .advice = "Rows are made by 'feedrate bench PATH… --out results.jsonl'.",
    .prepare = prepare};

}  // namespace feedrate::tools
