#include <fmt/format.h>

#include "tools/console/bars.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/table.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t comparison_columns = 100;
constexpr const char* caution =
    "Each interval is Welch's t interval of the logarithms of the repeats. About 1 in 20 of the "
    "reported "
    "changes may be chance (Benjamini and Hochberg). The intervals do not account for a machine "
    "that was "
    "busier during one of the two benches.";

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
    text += fmt::format("caveat: {}\n", wrapped(harmless(doubt), 8, comparison_columns));
  }
  return text + wrapped(caution, 0, comparison_columns) + "\n" +
         wrapped(comparison.summary(), 0, comparison_columns) + "\n";
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "# Feedrate comparison\n\n" + escape_markdown(comparison.summary()) + "\n\n";
  for (const std::string& doubt : comparison.doubts) {
    text += "> Caveat: " + escape_markdown(doubt) + "\n\n";
  }
  for (const Table& table : tables(comparison)) {
    text += fmt::format("## {}\n\n{}\n", escape_markdown(table.title), table_markdown(table));
  }
  return text + caution + "\n";
}

template <class Field>
void for_each_field(const ComparedPoint& point, const Field& field) {
  constexpr std::string_view one_repeat = "a single repeat";
  const auto end = [&](double formats::Interval::*member) {
    return point.interval ? std::optional(*point.interval.*member) : std::nullopt;
  };
  field("study", point.study, {"network, images, device, precision, batch"});
  field("kind", point.kind, {"as in rows"});
  field("format", unless_empty(point.format),
        {"as in a curve, without a path", Null{"demand and compute"}});
  field("threads", point.threads, {"of the loader", Null{"demand and compute"}});
  field("before", point.before, {"median of the first file", Unit{"images/s"}, Digits{3}});
  field("after", point.after, {"median of the second file", Unit{"images/s"}, Digits{3}});
  field("ratio", point.ratio(),
        {"after / before; of several repeats, their geometric means", Digits{4}});
  field("ratio_low", end(&formats::Interval::low),
        {"lower end of the 95 % interval of the ratio: Welch's t for the logarithms of the repeats",
         Null{one_repeat}, Digits{4}});
  field("ratio_high", end(&formats::Interval::high),
        {"upper end of that interval", Null{one_repeat}, Digits{4}});
  field("change", name_of(point.change()),
        {"`faster` or `slower`, of which one in 20 is expected to be neither, over all points; "
         "`no difference`; `not known`"});
}

template <>
inline constexpr Heading heading_of<Comparison>{"report-compare",
                                                "What `feedrate report --compare` prints."};

template <class Field>
void for_each_field(const Comparison& comparison, const Field& field) {
  field("summary", comparison.summary(), {"did it get faster?"});
  field("points", comparison.points, {"points that both files have"});
  field("only_before", comparison.only_before, {"points of the first file alone"});
  field("only_after", comparison.only_after, {"points of the second file alone"});
  field("doubts", comparison.doubts, {"what makes the comparison doubtful"});
}

Description describe_report_compare() { return description_of(Comparison{}); }

std::string comparison_json(const Comparison& comparison) { return json_text_of(comparison); }

}  // namespace feedrate::tools
