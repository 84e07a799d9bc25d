#pragma once
// Writes a report as text for a terminal, Markdown, CSV, JSON or one self-contained HTML page, and
// a comparison as the first two or JSON. Pure functions.

#include <string>

#include "tools/lab/report/study/comparison.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {

/// For a terminal, in 100 columns; ends with the verdicts.
std::string report_text(const Report& report);
/// One line for each row, as in RFC 4180; fields of values that were not measured are empty.
std::string report_csv(const Report& report);
/// Quoted where needed. A formula gets a leading apostrophe, so that spreadsheets show it as text.
std::string csv_field(const std::string& text);
/// The output of `--json`.
std::string report_json(const Report& report);
/// A page that loads nothing and runs no script.
std::string report_html(const Report& report);
/// The tables and sentences of the text, and what the page explains.
std::string report_markdown(const Report& report);

/// The points, the doubts, the answer.
std::string comparison_text(const Comparison& comparison);
std::string comparison_markdown(const Comparison& comparison);
/// The output of `--compare --json`.
std::string comparison_json(const Comparison& comparison);

}  // namespace feedrate::tools
