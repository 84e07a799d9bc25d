#include "tools/lab/report/write/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "tools/console/text.h"
#include "tools/lab/measure/verdict_text.h"
#include "tools/lab/report/study/attribution.h"
#include "tools/lab/report/study/choice.h"

namespace feedrate::tools {
using namespace formats;

namespace {

std::optional<double> rate_of(const Point* point) {
  return point == nullptr ? std::nullopt : std::optional(point->rate);
}

std::optional<double> stall_of(const Point* point) {
  return point == nullptr ? std::nullopt : point->stall;
}

std::string workers_head(const Study& study) {
  return study.is_of_script() ? fmt::format("{}s", study.worker()) : "threads";
}

/// In percent of the demand of the curve's own tool.
std::optional<double> share_of_demand(const Curve& curve, const Point* delivered) {
  if (delivered == nullptr || !curve.demand || curve.demand->rate <= 0) return std::nullopt;
  return 100 * delivered->rate / curve.demand->rate;
}

std::optional<double> spread_percent(const Point& point) {
  const auto spread = point.spread();
  return spread ? std::optional(100 * *spread) : std::nullopt;
}

/// "2,860–2,910"; of two repeats "2,860 and 2,910".
std::string interval_cell(const Point* point) {
  if (point == nullptr || point->repeats.size() < 2) return not_measured;
  if (const auto interval = point->interval()) {
    return quantity(std::max(0.0, interval->low)) + "–" + quantity(interval->high);
  }
  return quantity(point->low) + " and " + quantity(point->high);
}

/// The thread counts of a curve, rising.
std::set<unsigned> thread_counts(const Curve& curve) {
  std::set<unsigned> counts;
  for (const auto* points : {&curve.supply, &curve.delivered}) {
    for (const Point& point : *points) counts.insert(point.threads);
  }
  return counts;
}

struct Cost {
  const char* head;
  std::optional<double> Point::*member;
  double scale = 1;
  bool counts = false;  // whole numbers

  std::string cell(double value) const {
    return counts ? grouped(static_cast<std::uint64_t>(std::llround(value)))
                  : quantity(scale * value);
  }
};
constexpr std::array costs{
    Cost{"CPU µs", &Point::cpu_us},
    Cost{"CPU mJ", &Point::cpu_joules, 1000},
    Cost{"peak MiB", &Point::peak_rss_mib},
    Cost{"planned MiB", &Point::planned_memory_mib},
    Cost{"GPU own MiB", &Point::gpu_own_memory_mib},
    Cost{"GPU used MiB", &Point::gpu_memory_mib},
    Cost{"GPU W", &Point::gpu_power_w},
    Cost{"GPU mJ", &Point::gpu_joules, 1000},
    Cost{"upload GB/s", &Point::upload_gb_per_s},
    Cost{"request ms", &Point::request_ms},
    Cost{"request p99 ms", &Point::request_ms_p99},
    Cost{"request CPU µs", &Point::request_cpu_us},
    Cost{"retries", &Point::repeated, 1, true},
    Cost{"connections", &Point::connections, 1, true},
};

}  // namespace

std::string spread_text(const Point& point) {
  const auto percent = spread_percent(point);
  return percent ? percent_cell(percent) : "unknown from one repeat";
}

Table points_table(const Study& study, const StudyVerdict& verdict) {
  Table table{.title = "Measured points",
              .heads = {"format", workers_head(study), "supply", "delivered", "predicted",
                        "of demand", "stall", "spread"}};
  for (const Curve& curve : study.curves) {
    for (const unsigned threads : thread_counts(curve)) {
      const Point* supply = at_threads(curve.supply, threads);
      const Point* delivered = at_threads(curve.delivered, threads);
      const Point& shown = delivered != nullptr ? *delivered : *supply;
      table.rows.push_back(
          {.cells = {curve.format, std::to_string(threads), rate_cell(rate_of(supply)),
                     rate_cell(rate_of(delivered)), rate_cell(shown.predicted),
                     percent_cell(share_of_demand(curve, delivered)),
                     percent_cell(stall_of(delivered)), percent_cell(spread_percent(shown))},
           .series = series_of(study, curve),
           .chosen = verdict.is_best(curve.format) && threads == verdict.measured_threads});
    }
  }
  return without_empty_columns(std::move(table));
}

Table formats_table(const Study& study, const StudyVerdict& verdict) {
  Table table{.title = "Formats side by side",
              .note =
                  "For each format, the smallest thread count within 3 % (or the noise, up to 10 "
                  "%) of its best rate. "
                  "With two repeats, both values are shown instead of an interval. Times and "
                  "energies are per "
                  "image. CPU µs: CPU time of all threads. Planned: the trainer's memory, computed "
                  "before its first "
                  "step. GPU own: this process's memory. GPU used: all processes'.",
              .heads = {"format", workers_head(study), "images/s", "95 % interval", "of demand",
                        "stall", "best supply"}};
  if (std::ranges::any_of(study.curves, &Curve::remote)) {
    table.note +=
        " Requests to the dataset's server: median time, 99th percentile, CPU time of the fetching "
        "thread, "
        "retries, and most connections at once.";
  }
  for (const Cost& cost : costs) table.heads.emplace_back(cost.head);
  for (const Curve& curve : study.curves) {
    const Point* at = shown_knee(study, curve);
    const Point* delivered = curve.delivered.empty() ? nullptr : at;
    const Point* supply = curve.supply.empty() ? nullptr : &knee(curve.supply);
    Table::Row row{
        .cells = {curve.format, at ? std::to_string(at->threads) : not_measured,
                  rate_cell(rate_of(at)), interval_cell(at),
                  percent_cell(share_of_demand(curve, delivered), 0), percent_cell(stall_of(at)),
                  rate_cell(rate_of(supply != at ? supply : nullptr))},
        .series = series_of(study, curve),
        .chosen = verdict.is_best(curve.format)};
    for (const Cost& cost : costs) {
      const std::optional<double> value = at ? at->*cost.member : std::nullopt;
      row.cells.push_back(value ? cost.cell(*value) : not_measured);
    }
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(std::move(table));
}

Table attribution_table(const Study& study) {
  Table table{.title = "Time per image, by stage",
              .note =
                  "Microseconds per delivered image; the parts add up. Compute: training on "
                  "batches in memory. Upload: "
                  "waiting for copies to the GPU. Read, decode, augment: waiting, split by where "
                  "the loader threads "
                  "spent their time (\"loading\" if unknown). Storage: what a cold cache adds. "
                  "Shared cores: slowdown "
                  "because loader threads use the trainer's cores.",
              .heads = {"format", workers_head(study), "µs per image"}};
  for (const AttributionPart& part : attribution_parts) table.heads.emplace_back(part.name);
  for (const AttributedPoint& bar : attribute(study)) {
    const Curve& curve = *std::ranges::find(study.curves, bar.format, &Curve::format);
    Table::Row row{.cells = {bar.format, std::to_string(bar.threads), quantity(bar.parts.total)},
                   .series = series_of(study, curve)};
    for (const AttributionPart& part : attribution_parts) {
      const double time = bar.parts.*part.member;
      row.cells.push_back(time > negligible_part * bar.parts.total ? quantity(time) : not_measured);
    }
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(std::move(table));
}

Table answers_table(const Report& report) {
  Table table{.title = "Summary",
              .heads = {"experiment", "answer", "images/s", "of demand", "stall", "limit"}};
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const StudyVerdict& verdict = report.verdicts[i];
    table.rows.push_back(
        {.cells = {report.studies[i].title(), verdict.answer,
                   verdict.format.empty() ? not_measured : quantity(verdict.rate),
                   percent_cell(percent_of_demand(verdict), 0), percent_cell(verdict.stall),
                   std::string(name(verdict.limit))}});
  }
  return table;
}

std::string prediction_sentence(const Study& study) {
  const auto error = prediction_error(study.curves);
  if (!error) return {};
  if (error->predictions == 1) {
    return fmt::format("One rate was predicted before it was measured, with an error of {:.1f} %.",
                       error->median);
  }
  return fmt::format(
      "{} rates were predicted before they were measured, with a median error of {:.1f} % "
      "(largest: "
      "{:.1f} %).",
      error->predictions, error->median, error->largest);
}

}  // namespace feedrate::tools
