#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/write/output.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

std::string report_csv(const Report& report) {
  using nlohmann::ordered_json;
  Table table;
  for (const Run& run : report.runs) {
    const bool is_first = table.rows.empty();
    std::vector<std::string>& cells = table.rows.emplace_back().cells;
    const auto add = [&](const std::string& name, const ordered_json& value) {
      if (is_first) table.heads.push_back(name);
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      cells.push_back(value.is_null() ? not_measured : text);
    };
    // Columns are the keys of a row. The environment's keys are inlined; repeats become their
    // lowest, highest and number.
    const auto row = ordered_json::parse(to_json_line(run));
    for (const auto& [key, value] : row.items()) {
      if (key == "environment") {
        for (const auto& [name, own] : value.items()) add(name, own);
      } else if (key == "repeats") {
        add("lowest", std::ranges::min(run.repeats));
        add("highest", std::ranges::max(run.repeats));
        add("repeats", run.repeats.size());
      } else {
        add(key, value);
      }
    }
  }
  return table_csv(table);
}

}  // namespace feedrate::tools
