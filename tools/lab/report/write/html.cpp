#include <fmt/format.h>

#include <algorithm>

#include "tools/console/text.h"
#include "tools/lab/report/draw/charts.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {

// Embedded by tools/cmake/embed.cmake.
extern const std::string_view page_html;
extern const std::string_view page_css;

namespace {

/// Escaped, with no line break before "%" or "×".
std::string typeset(std::string_view text) {
  std::string set = escape_markup(text);
  for (const std::string_view sign : {" %", " ×"}) {
    for (auto at = set.find(sign); at != std::string::npos; at = set.find(sign, at)) {
      set.replace(at, 1, "\u00a0");
    }
  }
  return set;
}

/// "" when `text` is empty.
std::string paragraph(std::string_view classes, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>\n", classes, typeset(text));
}

std::string scrolling(const Table& table) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}, "
      "scrollable\">{}</div>\n",
      escape_markup(table.title), table_html(table));
}

enum class Fold { open, closed };

/// A foldable table under its title; "" for a table without rows.
std::string titled_html(const Table& table, Fold fold = Fold::open) {
  if (table.rows.empty()) return {};
  return fmt::format("<details{}><summary>{}</summary>\n{}{}</details>\n",
                     fold == Fold::open ? " open" : "", escape_markup(table.title),
                     paragraph("note", table.note), scrolling(table));
}

std::string figures(const std::vector<Chart>& charts) {
  std::string text = "<div class=\"charts\">\n";
  for (const Chart& chart : charts) {
    text += fmt::format("<figure><figcaption><h3>{}</h3><p>{}</p></figcaption>\n{}</figure>\n",
                        escape_markup(chart.title), typeset(chart.caption), chart.svg.markup());
  }
  return text + "</div>\n";
}

std::string study_section(const Study& study, const StudyVerdict& verdict, bool is_headline) {
  std::string text = fmt::format("<section><h2>{}</h2>\n", typeset(study.title()));
  if (!is_headline)
    text += paragraph("answer", verdict.answer + ".") + paragraph("note", verdict.reason());
  text += figures(study_charts(study, verdict)) + paragraph("note", prediction_sentence(study));
  text += titled_html(formats_table(study, verdict)) +
          titled_html(points_table(study, verdict), Fold::closed) +
          titled_html(attribution_table(study));
  return text + "</section>\n";
}

std::string study_sections(const Report& report) {
  std::string text = titled_html(needs_table(report));
  if (report.studies.size() > 1) text += titled_html(answers_table(report));
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    text += study_section(report.studies[i], report.verdicts[i], i == 0);
  }
  return text;
}

/// The figures of the first verdict, in large type.
std::string key_figures(const Table& answers) {
  std::string text;
  for (std::size_t i = 2; i < answers.heads.size(); ++i) {
    const std::string& value = answers.rows.front().cells[i];
    if (value == not_measured) continue;
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", answers.heads[i], typeset(value));
  }
  return text;
}

std::string doubt_section(const std::vector<std::string>& doubts) {
  std::string text;
  for (const std::string& doubt : doubts) text += fmt::format("<li>{}</li>\n", typeset(doubt));
  if (text.empty()) return {};
  return "<section class=\"doubts\"><h2>Caveats</h2><ul>\n" + text + "</ul></section>\n";
}

std::string fields_html(const Fields& fields) {
  std::string text;
  for (const auto& [label, value] : fields) {
    const bool is_long = value.size() > 300;
    text += fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", is_long ? " class=\"long\"" : "",
                        escape_markup(label), escape_markup(value));
  }
  return text;
}

std::string question(const Study& study) {
  return study.is_of_script()
             ? fmt::format("What limits {}, and how many workers does it need?", study.title())
             : fmt::format("How many loader threads, and which format, for {}?", study.title());
}

/// The terms that the question has.
std::string explained(const Study& study) {
  const auto meaning = [](std::string_view term) {
    return fmt::format("{}: {}", term,
                       std::ranges::find(glossary(), term, &Fields::value_type::first)->second);
  };
  return study.is_of_script() ? meaning("Worker")
                              : meaning("Loader thread") + " " + meaning("Format × codec");
}

}  // namespace

std::string report_html(const Report& report) {
  const StudyVerdict& verdict = report.verdicts.front();
  const Environment& environment = report.rows.front().environment;
  const std::string on = fmt::format("{}, {} · {:.10}", environment.cpu,
                                     counted(environment.cores, "core"), environment.time);
  return fmt::format(
      fmt::runtime(page_html), fmt::arg("page_css", page_css), fmt::arg("on", typeset(on)),
      fmt::arg("study", typeset(report.studies.front().title())),
      fmt::arg("answer", typeset(verdict.answer)), fmt::arg("reason", typeset(verdict.reason())),
      fmt::arg("question", typeset(question(report.studies.front()))),
      fmt::arg("explained", typeset(explained(report.studies.front()))),
      fmt::arg("terms", fields_html(glossary())),
      fmt::arg("figures", key_figures(answers_table(report))),
      fmt::arg("doubts", doubt_section(report.doubts)), fmt::arg("studies", study_sections(report)),
      fmt::arg("machine", fields_html(machine_fields(report))));
}

}  // namespace feedrate::tools
