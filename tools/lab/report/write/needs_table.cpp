#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/lab/report/study/scaling.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

/// An error beyond this is told before the numbers.
constexpr double max_error = 0.1;

/// "13 (12 to 15)"
std::string cores_cell(const Range& cores) {
  const unsigned likely = whole_cores(cores.likely);
  const unsigned low = whole_cores(cores.low), high = whole_cores(cores.high);
  if (low == high) return std::to_string(likely);
  return fmt::format("{} ({} to {})", likely, low, high);
}

/// How the prediction did where it can be measured, over all needs.
struct Tried {
  double error = 0;                  // the largest, as a share
  unsigned most = 0;                 // threads that were predicted
  std::vector<std::string> careful;  // names of what missed by too much, and by how much

  void add(const std::string& name, const Need& need) {
    if (!need.scaling.tried()) return;
    const double missed = std::abs(*need.scaling.tried());
    error = std::max(error, missed);
    most = std::max(most, need.scaling.most);
    if (missed <= max_error) return;
    const std::string text = fmt::format("{} by {:.0f} %", name, 100 * missed);
    // Two devices are fed by one supply.
    if (std::ranges::find(careful, text) == careful.end()) careful.push_back(text);
  }

  std::string text() const {
    if (most == 0) return "One number of threads was measured, so this was not tried.";
    if (!careful.empty()) {
      return fmt::format(
          "Careful: predicted from the fewest threads, the measured rates of up to {} are missed: "
          "{}. Of these, nobody knows what more cores give.",
          most, fmt::join(careful, ", "));
    }
    return fmt::format(
        "Tried where it can be measured, the same prediction from the fewest threads misses the "
        "measured rates of up to {} by {:.0f} % at the most.",
        most, 100 * error);
  }
};

}  // namespace

Table needs_table(const Report& report) {
  Table table{.title = "Cores of this kind that would feed a device", .heads = {"format"}};
  Tried tried;
  std::vector<const Study*> fed;
  for (const Study& study : report.studies) {
    if (!needs(study).empty()) fed.push_back(&study);
  }
  for (std::size_t i = 0; i < fed.size(); ++i) {
    const Study& study = *fed[i];
    table.heads.push_back(fmt::format(
        "{} on {}{}", study.network, study.device,
        study.has_namesakes ? fmt::format(" at {}/s", quantity(needs(study).front().demand)) : ""));
    for (const Need& need : needs(study)) {
      const std::string name =
          study.dataset.empty() ? need.curve->format : study.dataset + ", " + need.curve->format;
      auto row =
          std::ranges::find_if(table.rows, [&](const auto& one) { return one.cells[0] == name; });
      if (row == table.rows.end()) {
        table.rows.push_back({.cells = {name}, .series = series_of(study, *need.curve)});
        row = table.rows.end() - 1;
      }
      row->cells.resize(i + 1, not_measured);
      row->cells.push_back(cores_cell(need.cores));
      tried.add(name, need);
    }
  }
  for (auto& row : table.rows) row.cells.resize(table.heads.size(), not_measured);
  const std::string costs =
      "Demand times what an image cost the most threads measured; in parentheses, what the spread "
      "of the repeats leaves, and costs that go on growing as they did up to there. The device's "
      "own threads come beside. ";
  table.note = tried.careful.empty() ? costs + tried.text() : tried.text() + " " + costs;
  return table;
}

}  // namespace feedrate::tools
