#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/table.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t comparison_columns = 100;
constexpr const char* caution =
    "Faster and slower: the 95 % interval of the ratio, from the repeats of both files (Welch's t "
    "interval of the logarithms), does not contain 1. Even where nothing changed, one point in 20 "
    "is expected to look changed; and the interval knows nothing of a machine that was busier "
    "during one of the two benches.";

/// One table for each study.
std::vector<Table> tables(const Comparison& comparison) {
  std::vector<Table> found;
  for (const ComparedPoint& point : comparison.points) {
    if (found.empty() || found.back().title != point.study) {
      found.push_back({.title = point.study,
                       .heads = {"rate", "format", "threads", "before", "after", "ratio",
                                 "95 % interval", "faster?"}});
    }
    const std::string interval =
        point.interval ? fmt::format("{:.3f}–{:.3f}", point.interval->low, point.interval->high)
                       : not_measured;
    found.back().rows.push_back(
        {.cells = {point.kind, point.format.empty() ? not_measured : point.format,
                   point.threads ? std::to_string(*point.threads) : not_measured,
                   quantity(point.before), quantity(point.after),
                   fmt::format("{:.3f}", point.ratio()), interval,
                   std::string(name_of(point.change()))}});
  }
  return found;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  for (const Table& table : tables(comparison)) {
    text += harmless(table.title) + "\n" + table_text(table, comparison_columns) + "\n";
  }
  for (const std::string& doubt : comparison.doubts) {
    text += fmt::format("doubt: {}\n", wrapped(harmless(doubt), 7, comparison_columns));
  }
  return text + wrapped(caution, 0, comparison_columns) + "\n" +
         wrapped(comparison.summary(), 0, comparison_columns) + "\n";
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "# Feedrate comparison\n\n" + escape_markdown(comparison.summary()) + "\n\n";
  for (const std::string& doubt : comparison.doubts) {
    text += "> Read with care: " + escape_markdown(doubt) + "\n\n";
  }
  for (const Table& table : tables(comparison)) {
    text += fmt::format("## {}\n\n{}\n", escape_markdown(table.title), table_markdown(table));
  }
  return text + caution + "\n";
}

std::string comparison_json(const Comparison& comparison) {
  using nlohmann::ordered_json;
  ordered_json points = ordered_json::array();
  for (const ComparedPoint& point : comparison.points) {
    const auto end = [&](double formats::Interval::*member) {
      return point.interval ? ordered_json(rounded(*point.interval.*member, 4)) : ordered_json();
    };
    points.push_back({{"study", point.study},
                      {"kind", point.kind},
                      {"format", or_null<ordered_json>(point.format)},
                      {"threads", or_null<ordered_json>(point.threads)},
                      {"before", rounded(point.before, 3)},
                      {"after", rounded(point.after, 3)},
                      {"ratio", rounded(point.ratio(), 4)},
                      {"ratio_low", end(&formats::Interval::low)},
                      {"ratio_high", end(&formats::Interval::high)},
                      {"change", name_of(point.change())}});
  }
  const ordered_json object{{"summary", comparison.summary()},
                            {"points", std::move(points)},
                            {"only_before", comparison.only_before},
                            {"only_after", comparison.only_after},
                            {"doubts", comparison.doubts}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace feedrate::tools
