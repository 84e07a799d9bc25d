#include <algorithm>
#include <array>
#include <utility>

#include "tools/report/output.h"

namespace feedrate {

// Embedded by tools/cmake/embed.cmake.
extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view chart_js;

namespace {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

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
  return escape_html(set);
}

/// JSON that no text in it can make end the script element it stands in.
std::string escape_script(const std::string& json) {
  std::string escaped;
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string report_html(const Report& report) {
  const Verdict& verdict = report.verdicts.front();
  const Study& study = report.studies.front();
  const std::array<std::pair<std::string_view, std::string>, 7> parts{{
      {"{{title}}", escape_html(verdict.answer + " · " + study.title())},
      {"{{answer}}", typeset(verdict.answer)},
      {"{{reason}}", typeset(verdict.reason)},
      {"{{css}}", std::string(page_css)},
      {"{{chart}}", std::string(chart_js)},
      {"{{data}}", escape_script(report_json(report))},
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

}  // namespace feedrate
