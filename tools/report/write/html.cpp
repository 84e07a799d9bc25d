#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/base/error.h"
#include "tools/cli/text.h"
#include "tools/report/draw/charts.h"
#include "tools/report/study/machine.h"
#include "tools/report/study/published_2018.h"
#include "tools/report/write/output.h"
#include "tools/report/write/study_tables.h"

namespace feedrate::tools {
using namespace formats;

// Embedded by tools/cmake/embed.cmake.
extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view charts_css;

namespace {

/// Escaped, and a figure never parted from its sign at the end of a line.
std::string typeset(std::string_view text) {
  std::string set;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(" %")) {
      set += "\u00a0";
    } else if (rest.starts_with(" × ")) {
      set += "\u00a0×\u00a0";
      i += std::string_view(" × ").size() - 1;
    } else {
      set += text[i];
    }
  }
  return escape_markup(set);
}

std::string scrolling(const Table& table) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}, scrolls\">{}</div>\n",
      escape_markup(table.title), table_html(table));
}

/// With its title; "" for a table without rows.
std::string titled(const Table& table) {
  if (table.rows.empty()) return {};
  std::string text = fmt::format("<h3 class=\"table\">{}</h3>\n", escape_markup(table.title));
  if (!table.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", typeset(table.note));
  return text + scrolling(table);
}

std::string folded(const Table& table) {
  if (table.rows.empty()) return {};
  return fmt::format("<details><summary>{}, as a table</summary>{}</details>\n",
                     escape_markup(table.title), scrolling(table));
}

std::string figures(const std::vector<Chart>& charts, const std::string& study) {
  std::string text = "<div class=\"charts\">\n";
  for (const Chart& chart : charts) {
    text += fmt::format(
        "<figure data-name=\"{}\" data-csv=\"{}\"><figcaption><h3>{}</h3><p>{}</p></figcaption>\n"
        "{}</figure>\n",
        escape_markup(study + "." + chart.name), escape_markup(table_csv(chart.data)),
        escape_markup(chart.title), typeset(chart.caption), chart.svg.markup());
  }
  return text + "</div>\n";
}

std::string study_section(const Study& study, const Verdict& verdict, bool first) {
  std::string text = fmt::format("<section><h2>{}</h2>\n", typeset(study.title()));
  if (!first) {
    text += fmt::format("<p class=\"answer\">{}</p>\n<p class=\"note\">{}</p>\n",
                        typeset(verdict.answer), typeset(verdict.reason));
  }
  text += figures(study_charts(study, verdict), file_name_of(study));
  text += titled(formats_table(study, verdict)) + titled(costs_table(study)) +
          titled(device_costs_table(study)) + titled(attribution_table(study)) +
          titled(prediction_table(study)) + folded(points_table(study, verdict));
  return text + "</section>\n";
}

std::string study_sections(const Report& report) {
  std::string text;
  if (report.studies.size() > 1) {
    text += fmt::format("<section><h2>Every answer</h2>\n{}</section>\n",
                        scrolling(answers_table(report.studies, report.verdicts)));
  }
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    text += study_section(report.studies[i], report.verdicts[i], i == 0);
  }
  if (!report.trainings.empty()) {
    text += "<section><h2>Training</h2>\n" +
            figures(training_charts(report.trainings), "training") +
            titled(training_table(report.trainings)) + "</section>\n";
  }
  const Table published = published_table(report.runs);
  if (!published.rows.empty()) {
    text +=
        fmt::format("<section><h2>{}</h2>\n<p class=\"note\">{}</p>\n{}</section>\n",
                    escape_markup(published.title), typeset(published.note), scrolling(published));
  }
  return text;
}

/// The verdict's own figures, large.
std::string key_figures(const Verdict& verdict) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value, const std::string& detail) {
    text += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name,
                        typeset(value), typeset(detail));
  };
  if (verdict.format.empty()) return text;
  const bool trained = verdict.stall || verdict.demand;
  add(trained ? "Delivered" : "Supply", quantity(verdict.rate), "images/s");
  if (const auto share = percent_of_demand(verdict)) {
    add("Of demand", percent_cell(share, 0), quantity(*verdict.demand) + " images/s");
  }
  if (verdict.stall) add("Stall", percent_cell(verdict.stall), "of training time");
  if (verdict.limit != Limit::unknown) {
    add("The limit", std::string(name_of(verdict.limit)), "what holds the rate down");
  }
  return text;
}

std::string doubt_section(const std::vector<std::string>& doubts) {
  if (doubts.empty()) return {};
  std::string text =
      "<section class=\"doubts\" aria-labelledby=\"doubts\"><h2 id=\"doubts\">Read with care</h2>"
      "<ul>";
  for (const std::string& doubt : doubts) text += fmt::format("<li>{}</li>", typeset(doubt));
  return text + "</ul></section>\n";
}

std::string machine_list(const Report& report) {
  std::string text;
  for (const auto& [name, value] : machine_fields(report.runs, report.studies)) {
    const bool full = name == "Command" || name == "Libraries";
    text += fmt::format("<div{}><dt>{}</dt><dd>{}{}{}</dd></div>\n", full ? " class=\"full\"" : "",
                        escape_markup(name), full ? "<code>" : "", escape_markup(value),
                        full ? "</code>" : "");
  }
  return text;
}

/// Names the study where the page has several.
std::string question(const Report& report) {
  const std::string asked = "How many loader threads, and which format";
  if (report.studies.size() == 1) return join(asked, "?");
  return fmt::format("{}, for {}?", asked, report.studies.front().title());
}

std::string context(const Report& report) {
  const Environment& environment = report.runs.front().environment;
  return fmt::format("{} · {}, {} · {:.10}", report.studies.front().title(), environment.cpu,
                     counted(environment.cores, "core"), environment.time);
}

}  // namespace

std::string report_html(const Report& report) {
  const Verdict& verdict = report.verdicts.front();
  const Study& study = report.studies.front();
  const std::array<std::pair<std::string_view, std::string>, 13> parts{{
      {"{{title}}", escape_markup(verdict.answer + " · " + study.title())},
      {"{{context}}", typeset(context(report))},
      {"{{question}}", typeset(question(report))},
      {"{{answer}}", typeset(verdict.answer)},
      {"{{reason}}", typeset(verdict.reason)},
      {"{{figures}}", key_figures(verdict)},
      {"{{doubts}}", doubt_section(report.doubts)},
      {"{{studies}}", study_sections(report)},
      {"{{machine}}", machine_list(report)},
      {"{{rows}}", scrolling(rows_table(report.runs))},
      {"{{charts_css}}", std::string(charts_css)},
      {"{{css}}", std::string(page_css)},
      {"{{script}}", std::string(page_js)},
  }};
  // One pass over the template, so that nothing put in is taken for a place.
  std::string page;
  std::string_view rest = page_html;
  while (!rest.empty()) {
    const auto* const found = std::find_if(
        parts.begin(), parts.end(), [&](const auto& part) { return rest.starts_with(part.first); });
    if (found != parts.end()) {
      page += found->second;
      rest.remove_prefix(found->first.size());
    }
    const std::size_t open = std::min(rest.find("{{", found == parts.end() ? 1 : 0), rest.size());
    page += rest.substr(0, open);
    rest.remove_prefix(open);
  }
  return page;
}

}  // namespace feedrate::tools
