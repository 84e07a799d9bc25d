#include "tools/lab/report/draw/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/console/text.h"
#include "tools/lab/report/draw/bar_chart.h"
#include "tools/lab/report/draw/line_chart.h"
#include "tools/lab/report/study/attribution.h"
#include "tools/lab/report/study/scaling.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct ThreadChart {
  const char *title, *unit, *caption;
  std::vector<Point> Curve::*points;
  bool is_rate;  // or else the stall
};
constexpr std::array thread_charts{
    ThreadChart{"Delivered", "images/s", "Images/s reaching the trainer.", &Curve::delivered, true},
    ThreadChart{"Supply", "images/s", "Images/s of the loader alone.", &Curve::supply, true},
    ThreadChart{"Stall", "% of training time",
                "Share of time the trainer waits for data. With 0 {}s: spends loading.",
                &Curve::delivered, false},
};

LineChart::Series series(const Study& study, const Curve& curve, const ThreadChart& what) {
  LineChart::Series series{.name = curve.format, .style = series_of(study, curve)};
  for (const Point& point : curve.*what.points) {
    const double x = point.threads;
    if (what.is_rate) {
      series.dots.push_back({.x = x, .y = point.rate, .low = point.low, .high = point.high});
      if (point.predicted) series.predicted.push_back({x, *point.predicted});
    } else if (point.stall) {
      series.dots.push_back({.x = x, .y = *point.stall});
    }
  }
  return series;
}

/// The most cores that any format needs, with some room to see where its line crosses the demand.
double last_cores(const std::vector<Need>& all) {
  constexpr double room = 1.1;
  double most = 0;
  for (const Need& need : all) most = std::max(most, need.cores.likely);
  return std::ceil(room * most);
}

/// Supply on more cores than were measured, up to `last`.
std::vector<LineChart::Dot> beyond(const Scaling& scaling, double last) {
  constexpr int steps = 8;
  std::vector<LineChart::Dot> dots;
  if (last <= scaling.most) return dots;
  for (int i = 0; i <= steps; ++i) {
    const double cores = scaling.most + (last - scaling.most) * i / steps;
    const Range rate = scaling.supply(cores);
    dots.push_back({.x = cores, .y = rate.likely, .low = rate.low, .high = rate.high});
  }
  return dots;
}

/// Marks the chosen point, if this curve has it.
std::optional<At> ring(const Curve& curve, const ThreadChart& what, const StudyVerdict& verdict) {
  const Point* chosen = at_threads(curve.*what.points, verdict.measured_threads);
  if (!what.is_rate || !verdict.is_best(curve.format) || chosen == nullptr ||
      chosen->rate != verdict.rate) {
    return std::nullopt;
  }
  return At{static_cast<double>(chosen->threads), chosen->rate};
}

/// Where the time of an image goes, as bars.
BarChart time_chart(const Study& study) {
  BarChart chart{.title = "Time per image", .unit = "µs"};
  for (const AttributedPoint& point : attribute(study)) {
    BarChart::Bar bar{
        .name = join(point.format, ", ",
                     counted(point.threads, study.is_of_script() ? study.worker() : "thread"))};
    for (unsigned i = 0; i < attribution_parts.size(); ++i) {
      const auto& [name, member] = attribution_parts[i];
      const double time = point.parts.*member;
      if (time > negligible_part * point.parts.total) bar.parts.push_back({name, time, i});
    }
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

}  // namespace

std::vector<Chart> study_charts(const Study& study, const StudyVerdict& verdict) {
  std::vector<Chart> charts;
  const std::vector<Need> all = study.device == "cpu" ? std::vector<Need>{} : needs(study);
  for (const ThreadChart& what : thread_charts) {
    LineChart chart{what.title, fmt::format("{}s", study.worker()), what.unit};
    if (what.is_rate && study.demand) chart.demand = study.demand->rate;
    bool predicted = false, carried = false;
    for (const Curve& curve : study.curves) {
      LineChart::Series own = series(study, curve, what);
      if (own.dots.empty()) continue;
      const auto need = std::ranges::find(all, &curve, &Need::curve);
      if (what.points == &Curve::supply && need != all.end()) {
        own.beyond = beyond(need->scaling, last_cores(all));
        carried = carried || !own.beyond.empty();
      }
      predicted = predicted || !own.predicted.empty();
      if (!chart.ring) chart.ring = ring(curve, what, verdict);
      chart.series.push_back(std::move(own));
    }
    if (chart.series.empty()) continue;
    std::string caption = fmt::format(fmt::runtime(what.caption), study.worker());
    if (predicted) caption += " Thin dashes: prediction.";
    if (carried) {
      caption += " Dashed: extrapolation to more cores, one thread each, with its range.";
    }
    if (chart.ring) caption += " Ring: recommended.";
    charts.push_back({what.title, caption, draw(chart)});
  }
  const BarChart times = time_chart(study);
  if (!times.bars.empty()) {
    charts.push_back({times.title, "Per delivered image, by stage.", draw(times)});
  }
  return charts;
}

}  // namespace feedrate::tools
