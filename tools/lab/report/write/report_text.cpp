#include <fmt/format.h>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t terminal_columns = 100;

/// "" for a table without rows.
std::string titled_text(const Table& table) {
  if (table.rows.empty()) return {};
  return "  " + table.title + "\n" + table_text(table, terminal_columns) + "\n";
}

std::string study_text(const Study& study, const StudyVerdict& verdict) {
  std::string text = harmless(study.title());
  if (study.demand) {
    text += fmt::format(": demand {} images/s (spread {})", quantity(study.demand->rate),
                        spread_text(*study.demand));
  }
  text += "\n";
  const Table points = points_table(study, verdict);
  if (!points.rows.empty()) text += table_text(points, terminal_columns) + "\n";
  const std::string predicted = prediction_sentence(study);
  if (!predicted.empty()) text += "  " + wrapped(predicted, 2, terminal_columns) + "\n\n";
  return text + titled_text(formats_table(study, verdict)) + titled_text(attribution_table(study));
}

}  // namespace

std::string report_text(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    text += study_text(report.studies[i], report.verdicts[i]);
  }
  const Table cores = needs_table(report);
  text += titled_text(cores);
  if (!cores.rows.empty()) text += "  " + wrapped(cores.note, 2, terminal_columns) + "\n\n";
  for (const std::string& doubt : report.doubts) {
    text += fmt::format("caveat: {}\n", wrapped(harmless(doubt), 8, terminal_columns));
  }
  text += "Answer (the page that --html writes explains the terms)\n";
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const std::string answer = harmless(sentence(report.studies[i], report.verdicts[i]));
    text += "  " + wrapped(answer, 4, terminal_columns) + "\n";
  }
  return text;
}

}  // namespace feedrate::tools
