#include "tools/report/draw/charts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/report/draw/axis.h"
#include "tools/report/draw/bar_chart.h"
#include "tools/report/draw/line_chart.h"
#include "tools/report/study/attribution.h"

namespace feedrate::tools {
namespace {

struct ChartText {
  const char *name, *title, *unit, *caption;
};

struct ThreadChart {
  ChartText text;
  std::vector<Point> Curve::*points;
  bool is_rate;  // or else the stall
};
constexpr std::array thread_charts{
    ThreadChart{
        {"delivered", "Delivered", "images/s", "What the trainer gets."}, &Curve::delivered, true},
    ThreadChart{{"supply", "Supply", "images/s", "What the loader delivers without a trainer."},
                &Curve::supply,
                true},
    ThreadChart{{"stall", "Stall", "% of training time",
                 "The share of training time spent waiting for data."},
                &Curve::delivered,
                false},
};

struct StepChart {
  ChartText text;
  std::optional<double> TrainingCurve::Mark::*member;
  double scale;
};
constexpr const char* training_caption = "Lines: training. Hollow marks: validation.";
constexpr std::array step_charts{
    StepChart{{"loss", "Loss", "loss", training_caption}, &TrainingCurve::Mark::loss, 1},
    StepChart{{"accuracy", "Accuracy", "% correct", training_caption},
              &TrainingCurve::Mark::accuracy,
              100},
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

/// Marks the chosen point, if this curve has it.
std::optional<LineChart::Ring> ring(const Curve& curve, const ThreadChart& what,
                                    const StudyVerdict& verdict) {
  const Point* chosen = at_threads(curve.*what.points, verdict.threads);
  if (!what.is_rate || curve.format != verdict.format || chosen == nullptr ||
      chosen->rate != verdict.rate) {
    return std::nullopt;
  }
  return LineChart::Ring{{static_cast<double>(chosen->threads), chosen->rate},
                         fmt::format("{}, {}/s", loader_threads(chosen->threads),
                                     short_quantity(std::round(chosen->rate)))};
}

/// Does nothing for a chart without series.
void add(std::vector<Chart>& charts, const LineChart& chart, const ChartText& text,
         const std::string& more) {
  if (chart.series.empty()) return;
  charts.push_back({text.name, text.title, text.caption + more, draw(chart)});
}

}  // namespace

std::vector<Chart> study_charts(const Study& study, const StudyVerdict& verdict) {
  std::vector<Chart> charts;
  for (const ThreadChart& what : thread_charts) {
    LineChart chart{what.text.title, "loader threads", what.text.unit};
    if (what.is_rate && study.demand) chart.demand = study.demand->rate;
    bool predicted = false;
    for (const Curve& curve : study.curves) {
      LineChart::Series own = series(study, curve, what);
      if (own.dots.empty()) continue;
      predicted = predicted || !own.predicted.empty();
      if (!chart.ring) chart.ring = ring(curve, what, verdict);
      chart.series.push_back(std::move(own));
    }
    std::string more = predicted ? " Thin dashed lines: predicted." : "";
    if (chart.ring) more += " The ring marks the chosen point.";
    add(charts, chart, what.text, more);
  }
  if (const auto bars = attribute(study); !bars.empty()) {
    constexpr const char* title = "Where the time of an image goes";
    charts.push_back(
        {"time", title,
         "Each format at its fewest threads, and at the fewest that are as fast as its best.",
         draw_times(title, bars)});
  }
  return charts;
}

std::vector<Chart> training_charts(const std::vector<TrainingCurve>& trainings) {
  std::vector<Chart> charts;
  for (const StepChart& what : step_charts) {
    const auto dots = [&](const std::vector<TrainingCurve::Mark>& marks) {
      std::vector<LineChart::Dot> list;
      for (const TrainingCurve::Mark& mark : marks) {
        const auto value = mark.*what.member;
        if (value) list.push_back({.x = static_cast<double>(mark.step), .y = what.scale * *value});
      }
      return list;
    };
    LineChart chart{what.text.title, "steps", what.text.unit};
    for (unsigned i = 0; i < trainings.size(); ++i) {
      LineChart::Series series{trainings[i].name, i, dots(trainings[i].curve)};
      series.marks = dots(trainings[i].validations);
      if (!series.dots.empty() || !series.marks.empty()) chart.series.push_back(std::move(series));
    }
    add(charts, chart, what.text, "");
  }
  return charts;
}

}  // namespace feedrate::tools
