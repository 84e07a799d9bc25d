#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <vector>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tools/console/advised_error.h"
#include "tools/console/console.h"
#include "tools/lab/report/write/output.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view results_advice =
    "'feedrate bench PATH… --out results.jsonl' writes results.";

struct ReportRequest {
  std::vector<fs::path> results;
  fs::path html;
  fs::path csv;
  bool compare = false;
  bool markdown = false;
  bool json = false;
};

void write(const fs::path& file, const std::string& text) {
  write_text(file, text);
  note(fmt::format("wrote {}", file.string()));
}

std::vector<Row> read(const fs::path& file) {
  ReadRows found =
      fs::exists(file) ? advised(results_advice, [&] { return read_rows(file); }) : read_rows(file);
  for (const std::string& problem : found.refused) warn("left out: " + problem);
  return std::move(found.rows);
}

int run_comparison(const ReportRequest& options) {
  const Comparison found = compare(read(options.results[0]), read(options.results[1]));
  if (found.points.empty()) {
    fail(options.results[1], "holds no point of ", options.results[0],
         ": no row has the same images, format, network and options");
  }
  print(options.json       ? comparison_json(found)
        : options.markdown ? comparison_markdown(found)
                           : comparison_text(found));
  return exit_done;
}

int run_report(const ReportRequest& options) {
  if (options.compare) return run_comparison(options);
  const Report report = make_report(read(options.results.front()));
  if (!options.html.empty()) write(options.html, report_html(report));
  if (!options.csv.empty()) write(options.csv, report_csv(report));
  print(options.json       ? report_json(report)
        : options.markdown ? report_markdown(report)
                           : report_text(report));
  return exit_done;
}

std::function<int()> prepare_report(CLI::App& app) {
  auto options = std::make_shared<ReportRequest>();
  add_input(app, "RESULTS", options->results, "Results file; two with --compare")->required();
  auto* compare = app.add_flag("--compare", options->compare,
                               "Say for each combination whether file 2 is faster");
  add_output(app,
             {.name = "--html", .description = "Write a page with charts, which opens offline"},
             options->html)
      ->excludes(compare);
  add_output(app, {.name = "--csv", .description = "Write every row as CSV"}, options->csv)
      ->excludes(compare);
  auto* markdown =
      app.add_flag("--markdown", options->markdown, "Print Markdown instead of plain text");
  add_json(app, options->json)->excludes(markdown);
  app.final_callback([options] {
    const std::size_t wanted = options->compare ? 2 : 1;
    if (options->results.size() == wanted) return;
    throw CLI::ValidationError(
        "RESULTS", options->compare ? "--compare takes two files of results"
                                    : "expected one file of results; --compare takes two");
  });
  return [options] { return run_report(*options); };
}

}  // namespace

extern const Command report_command;
const Command report_command{
    .name = "report",
    .job = Job::measurement,
    .summary = "Report results of bench as text, a page with charts, or CSV",
    .description =
        R"(Read results of 'feedrate bench' or 'diagnose --out' and say how many loader threads and
which format to use, what limits the rate, and how certain that is.)",
    .details =
        R"(--compare: Gives the 95 % interval of the ratio of the two rates.
--html: Charts also show the time per image, the accuracy of predictions, and the time, memory and
energy of each format. Results of different images or machines never share a chart.)",
    .examples = R"(  feedrate report results.jsonl
  feedrate report results.jsonl --html report.html --csv results.csv
  feedrate report results.jsonl --markdown > report.md
  feedrate report before.jsonl after.jsonl --compare
)",
    .prepare = prepare_report};

}  // namespace feedrate::tools
