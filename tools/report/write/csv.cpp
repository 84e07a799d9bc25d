#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;

/// Whether a spreadsheet would evaluate the text instead of showing it. Numbers are no formulas.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t").find(text.front()) == std::string_view::npos) {
    return false;
  }
  double number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc() || at != text.data() + text.size();
}

/// The row's values by column. The environment's keys are inlined; repeats become their lowest,
/// highest and number.
ordered_json columns_of_row(const Run& run) {
  ordered_json columns;
  for (const auto& [key, value] : ordered_json::parse(to_json_line(run)).items()) {
    if (key == "environment") {
      columns.update(value);
    } else if (key == "repeats") {
      columns["lowest"] = std::ranges::min(run.repeats);
      columns["highest"] = std::ranges::max(run.repeats);
      columns["repeats"] = run.repeats.size();
    } else {
      columns[key] = value;
    }
  }
  return columns;
}

}  // namespace

std::string csv_field(const std::string& given) {
  const std::string text = is_formula(given) ? "'" + given : given;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string report_csv(const Report& report) {
  std::string heads, lines;
  for (const Run& run : report.runs) {
    const bool is_first = lines.empty();
    const char* comma = "";
    for (const auto& [key, value] : columns_of_row(run).items()) {
      if (is_first) heads += comma + csv_field(key);
      if (value.is_null()) {
        lines += comma;
      } else {
        lines += comma + csv_field(value.is_string() ? value.get<std::string>() : value.dump());
      }
      comma = ",";
    }
    lines += "\r\n";
  }
  return heads + "\r\n" + lines;
}

}  // namespace feedrate::tools
