#pragma once
// Writes a report as text for a terminal, CSV, JSON, SVG files or one self-contained HTML page.
// Pure functions.

#include <string>
#include <vector>

#include "tools/report/study/report.h"

namespace feedrate::tools {

/// For a terminal, in 100 columns; ends with the verdicts.
std::string report_text(const Report& report);
/// One line for each row, as in RFC 4180; fields of values that were not measured are empty.
std::string report_csv(const Report& report);
/// Quoted where needed. A formula gets a leading apostrophe, so that spreadsheets show it as text.
std::string csv_field(const std::string& text);
/// The output of `--json` (tools/JSON.md).
std::string report_json(const Report& report);
/// A page that loads nothing and runs no script.
std::string report_html(const Report& report);

/// A chart as an SVG file, named after its study.
struct ChartFile {
  std::string name;  // "lenet-on-mnist-cpu-fp32-batch-64.delivered.svg"
  std::string text;
};
/// Every chart; no two names are equal.
std::vector<ChartFile> report_svg(const Report& report);

}  // namespace feedrate::tools
