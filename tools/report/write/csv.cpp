#include <algorithm>
#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;
using Take = std::function<void(const std::string& name, const std::string& cell)>;

std::string cell(const ordered_json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Every value of a row by its key, repeats as their range and number, the environment's in line.
void for_each_cell(const Run& run, const Take& take) {
  const ordered_json row = ordered_json::parse(to_json_line(run));
  for (const auto& [key, value] : row.items()) {
    if (key == "environment") {
      for (const auto& [name, own] : value.items()) take(name, cell(own));
    } else if (key == "repeats") {
      const auto [low, high] = std::ranges::minmax(run.repeats);
      take("lowest", ordered_json(low).dump());
      take("highest", ordered_json(high).dump());
      take("repeats", std::to_string(run.repeats.size()));
    } else {
      take(key, cell(value));
    }
  }
}

/// What a spreadsheet would compute instead of showing it: a dataset may have any name.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t").find(text.front()) == std::string_view::npos) {
    return false;
  }
  double number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc() || at != text.data() + text.size();
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
  std::string text;
  const auto add = [&](const Run& run, bool names) {
    const char* separator = "";
    for_each_cell(run, [&](const std::string& name, const std::string& value) {
      text += separator;
      text += csv_field(names ? name : value);
      separator = ",";
    });
    text += "\r\n";
  };
  if (!report.runs.empty()) add(report.runs.front(), true);
  for (const Run& run : report.runs) add(run, false);
  return text;
}

}  // namespace feedrate::tools
