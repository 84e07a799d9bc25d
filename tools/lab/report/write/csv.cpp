#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/lab/report/write/output.h"

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
ordered_json columns_of_row(const Row& row) {
  const ordered_json object = ordered_json::parse(to_json_line(row));
  ordered_json columns;
  for (const auto& [key, value] : object.items()) {
    if (key == "environment") {
      columns.update(value);
    } else if (key == "repeats") {
      columns["lowest"] = std::ranges::min(row.repeats);
      columns["highest"] = std::ranges::max(row.repeats);
      columns["repeats"] = row.repeats.size();
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
  std::vector<std::string> lines;
  for (const Row& row : report.rows) {
    const ordered_json columns = columns_of_row(row);
    std::vector<std::string> heads, fields;
    for (const auto& [key, value] : columns.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      heads.push_back(csv_field(key));
      fields.push_back(value.is_null() ? "" : csv_field(text));
    }
    if (lines.empty()) lines.push_back(fmt::format("{}\r\n", fmt::join(heads, ",")));
    lines.push_back(fmt::format("{}\r\n", fmt::join(fields, ",")));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace feedrate::tools
