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
  if (problem) fail(directory, "cannot create the directory: ", problem.message());
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
  app.add_option("RESULTS", options->results, "Results of 'feedrate bench'")->required();
  add_output(app, "--html", options->html, "Write one page with charts, which opens offline");
  add_output(app, "--csv", options->csv, "Write every row as CSV");
  add_output(app, "--svg", options->svg, "Write each chart as an SVG file into this directory",
             "DIR");
  app.add_option("--training", options->training,
                 "Output of 'feedrate train --json', to add training curves")
      ->type_name("FILE");
  add_json(app, options->json);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command report_command;
const Command report_command{
    .name = "report",
    .summary = "Says how many threads and which format to use, from a bench",
    .description =
        R"(Reads the results of a bench and says how many loader threads and which format to use,
with the figures behind the answer: the fewest threads that deliver within 3 % of the
best rate, and what limits that rate. Differences smaller than the spread of the repeats
do not count. Rows of different images never share a chart, and the report lists what
makes rows doubtful. It also shows where the time of an image goes, how accurate the
predictions were, and what a format costs in time, memory and energy.)",
    .examples = R"(  feedrate report results.jsonl
  feedrate report results.jsonl --html report.html --csv results.csv
  feedrate report results.jsonl --training lenet.json --svg charts --html report.html
)",
    .advice = "'feedrate bench PATH… --out results.jsonl' writes results.",
    .prepare = prepare};

}  // namespace feedrate::tools
