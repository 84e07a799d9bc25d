#pragma once
// A report's four shapes: a table for the terminal, CSV, JSON, and one HTML page that needs nothing
// else. All are made of the same studies and verdicts.

#include <string>
#include <vector>

#include "tools/report/study.h"
#include "tools/report/verdict.h"

namespace feedrate {

struct Report {
  std::vector<Run> runs;
  std::vector<Study> studies;
  std::vector<Verdict> verdicts;  // by study
  std::vector<std::string> doubts;
};

/// Throws Error when the rows do not compare.
Report make_report(std::vector<Run> runs);

/// For a terminal; ends with the verdicts, a sentence each.
std::string report_table(const Report& report);
/// A line for each row, RFC 4180: quoted where a field needs it, empty where nothing was measured.
std::string report_csv(const Report& report);
std::string csv_field(const std::string& text);
/// What `--json` prints and what the page is drawn from.
std::string report_json(const Report& report);
/// Self-contained: opens without a network.
std::string report_html(const Report& report);

}  // namespace feedrate
