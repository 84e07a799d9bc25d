#include "tools/report/write/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "formats/base/statistics.h"
#include "tools/cli/text.h"
#include "tools/report/study/attribution.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using Column = Table::Column;
constexpr Table::Align left = Table::Align::left;

std::optional<double> rate_of(const Point* point) {
  return point == nullptr ? std::nullopt : std::optional(point->rate);
}

/// Of the demand of the tool that read the curve.
std::optional<double> share_of_demand(const Curve& curve, const Point* delivered) {
  if (delivered == nullptr || !curve.demand || curve.demand->rate <= 0) return std::nullopt;
  return 100 * delivered->rate / curve.demand->rate;
}

unsigned style_of(const Study& study, const Curve& curve) {
  return static_cast<unsigned>(&curve - study.curves.data());
}

}  // namespace

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  return is_trained(study) || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

Table points_table(const Study& study, const Verdict& verdict) {
  Table table{.title = "The points of the curves",
              .note = "",
              .columns = {{"format", left},
                          {"threads"},
                          {"supply"},
                          {"delivered"},
                          {"predicted"},
                          {"of demand"},
                          {"stall"},
                          {"spread"}},
              .rows = {}};
  for (const Curve& curve : study.curves) {
    for (const unsigned threads : thread_counts(curve)) {
      const Point* supply = at_threads(curve.supply, threads);
      const Point* delivered = at_threads(curve.delivered, threads);
      const Point& shown = delivered != nullptr ? *delivered : *supply;
      table.rows.push_back(
          {.cells = {curve.format, std::to_string(threads), rate_cell(rate_of(supply)),
                     rate_cell(rate_of(delivered)), rate_cell(shown.predicted),
                     percent_cell(share_of_demand(curve, delivered)),
                     percent_cell(delivered != nullptr ? delivered->stall : std::nullopt),
                     percent_cell(100 * shown.spread())},
           .series = style_of(study, curve),
           .chosen = curve.format == verdict.format && threads == verdict.threads});
    }
  }
  return table;
}

Table formats_table(const Study& study, const Verdict& verdict) {
  Table table{.title = "Formats side by side",
              .note =
                  "Each at the fewest threads that do as well as its own best: within 3 %, or "
                  "within what its repeats differ by, up to 10 %.",
              .columns = {{"format", left},
                          {"threads"},
                          {"delivered images/s"},
                          {"of demand"},
                          {"stall"},
                          {"spread"},
                          {"best supply images/s"},
                          {"at threads"}},
              .rows = {}};
  for (const Curve& curve : study.curves) {
    const Point* at = curve.delivered.empty() ? nullptr : &knee(curve.delivered);
    const Point* supply = curve.supply.empty() ? nullptr : &knee(curve.supply);
    table.rows.push_back(
        {.cells = {curve.format, at ? std::to_string(at->threads) : not_measured,
                   rate_cell(rate_of(at)), percent_cell(share_of_demand(curve, at), 0),
                   percent_cell(at ? at->stall : std::nullopt),
                   at ? percent_cell(100 * at->spread()) : not_measured, rate_cell(rate_of(supply)),
                   supply ? std::to_string(supply->threads) : not_measured},
         .series = style_of(study, curve),
         .chosen = curve.format == verdict.format});
  }
  return table;
}

std::vector<double> prediction_errors(const Curve& curve) {
  std::vector<double> errors;
  for (const auto* points : {&curve.supply, &curve.delivered}) {
    for (const Point& point : *points) {
      if (const auto error = point.prediction_error()) errors.push_back(*error);
    }
  }
  return errors;
}

std::vector<double> prediction_errors(const Study& study) {
  std::vector<double> errors;
  for (const Curve& curve : study.curves) {
    const std::vector<double> own = prediction_errors(curve);
    errors.insert(errors.end(), own.begin(), own.end());
  }
  return errors;
}

Table prediction_table(const Study& study) {
  Table table{.title = "How far the predictions were off",
              .note =
                  "What would be delivered was told from supply, demand and the loader's own "
                  "times before it was measured; the error is a share of what came.",
              .columns = {{"format", left}, {"predictions"}, {"median error"}, {"largest error"}},
              .rows = {}};
  const auto add = [&](const std::string& name, const std::vector<double>& errors,
                       std::optional<unsigned> style) {
    table.rows.push_back(
        {.cells = {name, std::to_string(errors.size()), percent_cell(median(errors)),
                   percent_cell(*std::max_element(errors.begin(), errors.end()))},
         .series = style});
  };
  for (const Curve& curve : study.curves) {
    const std::vector<double> errors = prediction_errors(curve);
    if (!errors.empty()) add(curve.format, errors, style_of(study, curve));
  }
  if (table.rows.size() > 1) add("all", prediction_errors(study), {});
  return table;
}

Table attribution_table(const Study& study) {
  const std::vector<AttributedPoint> bars = attribute(study);
  Table table{.title = "Where the time of an image goes",
              .note =
                  "Microseconds between two images that arrive, which add up to the whole. "
                  "Compute is what the trainer takes with its batches in memory, less upload, by "
                  "which it is slower than with its batches on the device; waiting is "
                  "divided as the loader's own times divide; storage is what a cold start "
                  "adds; shared cores is time in which the trainer neither waited nor had "
                  "all its cores.",
              .columns = {{"format", left}, {"threads"}, {"µs per image"}},
              .rows = {}};
  std::vector<AttributionPart> parts;
  for (const AttributionPart& part : attribution_parts) {
    const bool any = std::any_of(bars.begin(), bars.end(), [&](const AttributedPoint& bar) {
      return bar.parts.*part.member > 0.002 * bar.parts.total;
    });
    if (!any) continue;
    parts.push_back(part);
    table.columns.push_back({std::string(part.name)});
  }
  for (const AttributedPoint& bar : bars) {
    Table::Row row{.cells = {bar.format, std::to_string(bar.threads), quantity(bar.parts.total)}};
    for (const AttributionPart& part : parts) {
      const double time = bar.parts.*part.member;
      row.cells.push_back(time > 0 ? quantity(time) : not_measured);
    }
    const auto own = std::find_if(study.curves.begin(), study.curves.end(),
                                  [&](const Curve& curve) { return curve.format == bar.format; });
    row.series = style_of(study, *own);
    table.rows.push_back(std::move(row));
  }
  return table;
}

namespace {

/// "2,860–2,910"
std::string interval_cell(const Point& point) {
  const std::optional<Interval> interval = point.interval();
  if (!interval) return not_measured;
  return quantity(std::max(0.0, interval->low)) + "–" + quantity(interval->high);
}

struct Cost {
  const char* name;
  std::optional<double> Point::*member;
  double scale = 1;
};
constexpr std::array host_costs{
    Cost{"CPU µs per image", &Point::cpu_us},
    Cost{"wait ms per step", &Point::wait_ms},
    Cost{"peak MiB", &Point::peak_rss_mib},
    Cost{"planned MiB", &Point::planned_memory_mib},
    Cost{"CPU mJ per image", &Point::cpu_joules, 1000},
};
constexpr std::array device_costs{
    Cost{"own MiB", &Point::gpu_own_memory_mib},
    Cost{"in use MiB", &Point::gpu_memory_mib},
    Cost{"GPU W", &Point::gpu_power_w},
    Cost{"GPU mJ per image", &Point::gpu_joules, 1000},
    Cost{"upload µs per image", &Point::upload_us},
    Cost{"upload GB/s", &Point::upload_gb_per_s},
};

/// A row for each format, at its knee; none where no row has anything for these costs.
/// `lead` gives the cells between threads and costs.
template <class Lead>
void add_costs(Table& table, const Study& study, std::span<const Cost> costs, const Lead& lead) {
  for (const Cost& cost : costs) table.columns.push_back({cost.name});
  bool any = false;
  for (const Curve& curve : study.curves) {
    const Point* point = shown_knee(study, curve);
    if (point == nullptr) continue;
    Table::Row row{.cells = {curve.format, std::to_string(point->threads)},
                   .series = style_of(study, curve)};
    for (std::string& cell : lead(*point)) row.cells.push_back(std::move(cell));
    for (const Cost& cost : costs) {
      const std::optional<double> value = point->*cost.member;
      row.cells.push_back(value ? quantity(cost.scale * *value) : not_measured);
      any = any || value;
    }
    table.rows.push_back(std::move(row));
  }
  if (!any) table.rows.clear();
}

}  // namespace

Table costs_table(const Study& study) {
  Table table{.title = "What it costs",
              .note =
                  "Each format with the fewest threads that do as well as its best. Processor "
                  "time counts every thread; waiting is what nothing hid.",
              .columns = {{"format", left}, {"threads"}, {"images/s"}, {"95 % interval"}},
              .rows = {}};
  add_costs(table, study, host_costs, [](const Point& point) {
    return std::vector{quantity(point.rate), interval_cell(point)};
  });
  return table;
}

Table device_costs_table(const Study& study) {
  Table table{.title = "What it costs the GPU",
              .note =
                  "Memory as planned before the first step, as this process had it and as it "
                  "was in use by whomsoever; an upload runs beside the compute.",
              .columns = {{"format", left}, {"threads"}, {"images/s"}},
              .rows = {}};
  add_costs(table, study, device_costs,
            [](const Point& point) { return std::vector{quantity(point.rate)}; });
  return table;
}

Table answers_table(const std::vector<Study>& studies, const std::vector<Verdict>& verdicts) {
  Table table{.title = "Every answer",
              .note = "",
              .columns = {{"trained", left},
                          {"answer", left},
                          {"images/s"},
                          {"of demand"},
                          {"stall"},
                          {"the limit", left}},
              .rows = {}};
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    table.rows.push_back(
        {.cells = {studies[i].title(), verdict.answer,
                   verdict.format.empty() ? not_measured : quantity(verdict.rate),
                   percent_cell(percent_of_demand(verdict), 0), percent_cell(verdict.stall),
                   std::string(name_of(verdict.limit))}});
  }
  return table;
}

}  // namespace feedrate::tools
