#pragma once
// A report's shapes: text for the terminal, CSV, JSON, SVG files, and one HTML page that needs
// nothing else. All are made of the same studies, verdicts, tables and charts.

#include <filesystem>
#include <string>
#include <vector>

#include "tools/report/draw/training_curve.h"
#include "tools/report/study/study.h"
#include "tools/report/study/verdict.h"

namespace feedrate::tools {

struct Report {
  std::vector<Run> runs;
  std::vector<Study> studies;
  std::vector<Verdict> verdicts;  // by study
  std::vector<std::string> doubts;
  std::vector<TrainingCurve> trainings;
};

Report make_report(std::vector<Run> runs, std::vector<TrainingCurve> trainings = {});

/// For a terminal; ends with the verdicts, a sentence each.
std::string report_text(const Report& report);
/// A line for each row, RFC 4180: quoted where a field needs it, empty where nothing was measured.
std::string report_csv(const Report& report);
std::string csv_field(const std::string& text);
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
/// A study's title as part of a file's name.
std::string file_name_of(const Study& study);

}  // namespace feedrate::tools
