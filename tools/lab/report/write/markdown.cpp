#include <fmt/format.h>

#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

/// "" when `text` is empty.
std::string paragraph(const std::string& text) {
  return text.empty() ? "" : escape_markdown(text) + "\n\n";
}

/// "" for a table without rows.
std::string titled_markdown(const Table& table) {
  if (table.rows.empty()) return {};
  return fmt::format("### {}\n\n{}{}\n", escape_markdown(table.title), paragraph(table.note),
                     table_markdown(table));
}

std::string fields(std::string_view title, const Fields& fields) {
  std::string text = fmt::format("## {}\n\n", title);
  for (const auto& [label, value] : fields) {
    text += fmt::format("- **{}**: {}\n", escape_markdown(label), escape_markdown(value));
  }
  return text + "\n";
}

}  // namespace

std::string report_markdown(const Report& report) {
  std::string text = "# Feedrate report\n\n";
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    text += "- " + escape_markdown(sentence(report.studies[i], report.verdicts[i])) + "\n";
  }
  text += "\n";
  for (const std::string& doubt : report.doubts) {
    text += "> Caveat: " + escape_markdown(doubt) + "\n\n";
  }
  text += titled_markdown(needs_table(report));
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const Study& study = report.studies[i];
    const StudyVerdict& verdict = report.verdicts[i];
    text += "## " + paragraph(study.title());
    if (study.demand) {
      text += paragraph(fmt::format("Demand: {} images/s (spread {}).",
                                    rate_cell(study.demand->rate), spread_text(*study.demand)));
    }
    text += titled_markdown(points_table(study, verdict)) + paragraph(prediction_sentence(study)) +
            titled_markdown(formats_table(study, verdict)) +
            titled_markdown(attribution_table(study));
  }
  text += fields("Machine and build", machine_fields(report)) + fields("Terms", glossary());
  text.pop_back();
  return text;
}

}  // namespace feedrate::tools
