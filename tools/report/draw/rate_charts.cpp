#include "tools/report/draw/rate_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/text.h"
#include "tools/report/draw/axis.h"
#include "tools/report/draw/line_chart.h"
#include "tools/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

using Points = std::vector<Point> Curve::*;

std::string threads_text(unsigned threads) {
  return threads == 0 ? "no loader threads" : counted(threads, "thread");
}

/// For those who cannot see the chart.
template <class Value>
std::string describe(const Study& study, Points points, const Value& value) {
  std::string text;
  for (const Curve& curve : study.curves) {
    std::string own;
    for (const Point& point : curve.*points) {
      own += fmt::format("{}{} with {}", own.empty() ? "" : ", ", value(point),
                         threads_text(point.threads));
    }
    if (own.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ". ", curve.format, own);
  }
  return text;
}

std::vector<double> ticks(const Study& study) {
  std::vector<double> counts;
  for (const unsigned threads : thread_counts(study)) counts.push_back(threads);
  return counts;
}

LineChart::Series series_of(const Study& study, const Curve& curve, Points points) {
  LineChart::Series series;
  series.name = curve.format;
  series.style = static_cast<unsigned>(&curve - study.curves.data());
  for (const Point& point : curve.*points) {
    const double x = point.threads;
    series.dots.push_back({.x = x,
                           .y = point.rate,
                           .low = point.low,
                           .high = point.high,
                           .told = fmt::format("{}: {} images/s with {}", curve.format,
                                               quantity(point.rate), threads_text(point.threads))});
    if (point.predicted) series.predicted.push_back({x, *point.predicted});
  }
  return series;
}

/// `points` as curves; the verdict's point ringed where it is among them.
LineChart rates(const Study& study, const Verdict& verdict, Points points) {
  LineChart chart;
  chart.description = describe(study, points, [](const Point& one) { return quantity(one.rate); });
  chart.x_title = "loader threads";
  chart.y_title = "images/s";
  chart.x_ticks = ticks(study);
  if (study.demand) chart.demand = study.demand->rate;
  for (const Curve& curve : study.curves) {
    if ((curve.*points).empty()) continue;
    chart.series.push_back(series_of(study, curve, points));
    const Point* chosen = at_threads(curve.*points, verdict.threads);
    if (curve.format != verdict.format || chosen == nullptr || chosen->rate != verdict.rate) {
      continue;
    }
    chart.ring = {{static_cast<double>(chosen->threads), chosen->rate},
                  fmt::format("{}, {}/s", threads_text(chosen->threads),
                              short_quantity(std::round(chosen->rate)))};
    const Band band = knee_band(curve.*points);
    chart.band = {band.low, band.high};
  }
  return chart;
}

bool any_predicted(const LineChart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [](const LineChart::Series& one) { return !one.predicted.empty(); });
}

/// The table of the points with names that need no section around them.
Table data(const Study& study, const Verdict& verdict) { return points_table(study, verdict); }

}  // namespace

Chart delivered_chart(const Study& study, const Verdict& verdict) {
  LineChart chart = rates(study, verdict, &Curve::delivered);
  chart.title = "Delivered";
  bool beside = false;
  for (LineChart::Series& series : chart.series) {
    for (const Point& point : study.curves[series.style].supply) {
      series.beside.push_back({static_cast<double>(point.threads), point.rate});
      beside = beside || point.rate < 1.1 * std::max(chart.demand.value_or(0), verdict.rate);
    }
  }
  std::string caption = "What arrives while training.";
  if (any_predicted(chart)) caption += " Thin dashes: what was predicted.";
  if (beside) caption += " Faint lines: what the loader alone supplies.";
  if (chart.ring) caption += " The ring is the point chosen, the band what is as good.";
  return {"delivered", "Delivered", caption, draw(chart), data(study, verdict)};
}

Chart supply_chart(const Study& study, const Verdict& verdict) {
  LineChart chart = rates(study, verdict, &Curve::supply);
  chart.title = "Supply";
  std::string caption = "What the loader alone hands over.";
  if (any_predicted(chart)) caption += " Thin dashes: what was predicted.";
  if (chart.ring) caption += " The ring is the point chosen, the band what is as good.";
  return {"supply", "Supply", caption, draw(chart), data(study, verdict)};
}

Chart stall_chart(const Study& study) {
  LineChart chart;
  chart.title = "Stall";
  chart.description =
      describe(study, &Curve::delivered, [](const Point& one) { return percent_cell(one.stall); });
  chart.x_title = "loader threads";
  chart.y_title = "% of training time";
  chart.x_ticks = ticks(study);
  Table table{.title = "Stall",
              .note = "",
              .columns = {{"format", Table::Align::left}, {"threads"}, {"stall %"}},
              .rows = {}};
  for (const Curve& curve : study.curves) {
    LineChart::Series series{.name = curve.format,
                             .style = static_cast<unsigned>(&curve - study.curves.data())};
    for (const Point& point : curve.delivered) {
      if (!point.stall) continue;
      series.dots.push_back({.x = static_cast<double>(point.threads),
                             .y = *point.stall,
                             .told = fmt::format("{}: {:.1f} % with {}", curve.format, *point.stall,
                                                 threads_text(point.threads))});
      table.rows.push_back({.cells = {curve.format, std::to_string(point.threads),
                                      fmt::format("{:.3f}", *point.stall)}});
    }
    if (!series.dots.empty()) chart.series.push_back(std::move(series));
  }
  return {"stall", "Stall", "Share of training time spent waiting for data.", draw(chart), table};
}

}  // namespace feedrate::tools
