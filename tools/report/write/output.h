#pragma once
// A report's shapes: text for the terminal, CSV, JSON, SVG files, and one HTML page that needs
// nothing else. All are made of the same studies, verdicts, tables and charts.

#include <string>
#include <vector>

#include "tools/report/study/report.h"

namespace feedrate::tools {

/// For a terminal; ends with the verdicts, a sentence each.
std::string report_text(const Report& report);
/// A line for each row.
std::string report_csv(const Report& report);
/// What `--json` prints.
std::string report_json(const Report& report);
/// Self-contained: opens without a network.
std::string report_html(const Report& report);

/// Every chart as a file of its own: a name that tells the study, and the SVG.
struct ChartFile {
  std::string name;  // "lenet-on-mnist-cpu-fp32-batch-64.delivered.svg"
  std::string text;
};
std::vector<ChartFile> report_svg(const Report& report);

}  // namespace feedrate::tools
