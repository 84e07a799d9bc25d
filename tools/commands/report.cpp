#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "formats/file.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/help.h"
#include "tools/report/output.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path results;
  fs::path html;
  fs::path csv;
  bool json = false;
};

void write(const fs::path& file, const std::string& text) {
  write_text(file, text);
  note(fmt::format("wrote {}", file.string()));
}

int run(const Options& options) {
  Rows rows = read_rows(options.results);
  for (const std::string& problem : rows.refused) warn("left out: " + problem);
  const Report report = make_report(std::move(rows.runs));
  if (!options.html.empty()) write(options.html, report_html(report));
  if (!options.csv.empty()) write(options.csv, report_csv(report));
  print(options.json ? report_json(report) + "\n" : report_table(report));
  return exit_done;
}

class ReportCommand : public Command {
 public:
  ReportCommand() : Command("report", "Answers how many threads and which format, from a bench") {}

  std::string_view description() const override {
    return "Reads the rows of a bench and answers how many loader threads to use and which "
           "format,\n"
           "with the figures behind it: the fewest threads that deliver within 3 % of the best, "
           "and\n"
           "what limits there. Differences smaller than the spread of the repeats count as none.\n"
           "Rows of different images are refused; what makes rows doubtful is said.";
  }
  std::string_view examples() const override {
    return "  feedrate report results.jsonl\n"
           "  feedrate report results.jsonl --html report.html --csv results.csv\n";
  }
  std::string_view advice() const override {
    return "Rows are made by 'feedrate bench PATH… --out results.jsonl'.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    app.add_option("RESULTS", options->results, "Rows of 'feedrate bench'")->required();
    app.add_option("--html", options->html, "Write one page with curves, opened without a network")
        ->type_name("FILE")
        ->group("Output");
    app.add_option("--csv", options->csv, "Write every row as CSV")
        ->type_name("FILE")
        ->group("Output");
    add_json(app, options->json);
    return [options] { return run(*options); };
  }
};

const ReportCommand the_command;

}  // namespace

extern const Command& report_command;
const Command& report_command = the_command;

}  // namespace feedrate
