#include "tools/report/draw/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/text.h"
#include "tools/report/draw/bar_chart.h"
#include "tools/report/draw/line_chart.h"
#include "tools/report/draw/rate_charts.h"
#include "tools/report/study/attribution.h"
#include "tools/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

Chart time_chart(const Study& study) {
  StackedBars chart;
  chart.title = "Where the time of an image goes";
  chart.x_title = "µs between two images";
  for (const AttributionPart& part : attribution_parts) chart.parts.emplace_back(part.name);
  for (const AttributedPoint& one : attribute(study)) {
    StackedBars::Bar bar{
        .name = fmt::format("{}, {}", one.format,
                            one.threads == 0 ? "no threads" : counted(one.threads, "thread")),
        .words = quantity(one.parts.total) + " µs",
        .parts = {}};
    for (const AttributionPart& part : attribution_parts) {
      bar.parts.push_back(one.parts.*part.member);
    }
    chart.description +=
        fmt::format("{}{}: {}", chart.description.empty() ? "" : ". ", bar.name, bar.words);
    chart.bars.push_back(std::move(bar));
  }
  return {"time", chart.title,
          "Each format with its fewest threads and with those that do as well as its best.",
          draw(chart), attribution_table(study)};
}

Chart formats_chart(const Study& study) {
  BarPanels chart;
  chart.title = "Formats side by side";
  std::vector<const Point*> points;
  for (const Curve& curve : study.curves) {
    const Point* shown = shown_knee(study, curve);
    if (shown == nullptr) continue;
    points.push_back(shown);
    chart.names.push_back(fmt::format("{}, {}", curve.format, points.back()->threads));
    chart.styles.push_back(static_cast<unsigned>(&curve - study.curves.data()));
  }
  const auto add = [&](const char* title, const auto& value) {
    BarPanels::Panel panel{title, {}};
    for (const Point* point : points) panel.values.push_back(value(*point));
    const bool any = std::any_of(panel.values.begin(), panel.values.end(),
                                 [](const auto& one) { return one.has_value(); });
    if (any) chart.panels.push_back(std::move(panel));
  };
  add("images/s", [](const Point& one) { return std::optional(one.rate); });
  add("CPU µs per image", [](const Point& one) { return one.cpu_us; });
  add("peak memory, MiB", [](const Point& one) { return one.peak_rss_mib; });
  add("GPU memory, MiB", [](const Point& one) { return one.gpu_memory_mib; });
  add("GPU power, W", [](const Point& one) { return one.gpu_power_w; });
  const auto millis = [](std::optional<double> joules) {
    return joules ? std::optional(1000 * *joules) : std::nullopt;
  };
  add("GPU energy, mJ per image", [&](const Point& one) { return millis(one.gpu_joules); });
  add("CPU energy, mJ per image", [&](const Point& one) { return millis(one.cpu_joules); });
  for (const BarPanels::Panel& panel : chart.panels) {
    chart.description += fmt::format("{}{}: ", chart.description.empty() ? "" : ". ", panel.title);
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      chart.description +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", chart.names[i], rate_cell(panel.values[i]));
    }
  }
  return {"formats", chart.title, "Each with the threads that stand behind its name.", draw(chart),
          costs_table(study)};
}

/// One chart of what the trainings went through; `value` of a mark may be absent.
template <class Value>
LineChart over_steps(const std::vector<TrainingCurve>& trainings, const Value& value) {
  LineChart chart;
  chart.x_title = "step";
  chart.marked = false;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    LineChart::Series series{.name = trainings[i].name, .style = static_cast<unsigned>(i)};
    const auto add = [&](const TrainingCurve::Mark& mark, const char* what,
                         std::vector<LineChart::Dot>& dots) {
      const std::optional<double> y = value(mark);
      if (!y) return;
      dots.push_back(
          {.x = static_cast<double>(mark.step),
           .y = *y,
           .told = fmt::format("{}, {}, step {}: {:.4g}", trainings[i].name, what, mark.step, *y)});
    };
    for (const auto& mark : trainings[i].curve) add(mark, "training", series.dots);
    for (const auto& mark : trainings[i].validations) add(mark, "validation", series.marks);
    if (series.dots.empty() && series.marks.empty()) continue;
    const LineChart::Dot& last = series.marks.empty() ? series.dots.back() : series.marks.back();
    chart.description += fmt::format("{}{}", chart.description.empty() ? "" : ". ", last.told);
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Table step_table(const std::vector<TrainingCurve>& trainings) {
  constexpr Table::Align left = Table::Align::left;
  Table table{.title = "Training",
              .note = "",
              .columns = {{"training", left}, {"images", left}, {"step"}, {"loss"}, {"accuracy"}},
              .rows = {}};
  const auto number = [](std::optional<double> value) {
    return value ? fmt::format("{}", *value) : not_measured;
  };
  for (const TrainingCurve& one : trainings) {
    for (const auto& [marks, what] :
         {std::pair(&one.curve, "training"), std::pair(&one.validations, "validation")}) {
      for (const TrainingCurve::Mark& mark : *marks) {
        table.rows.push_back({.cells = {one.name, what, std::to_string(mark.step),
                                        number(mark.loss), number(mark.accuracy)}});
      }
    }
  }
  return table;
}

}  // namespace

std::vector<Chart> study_charts(const Study& study, const Verdict& verdict) {
  std::vector<Chart> charts;
  const auto any = [&](const auto& holds) {
    return std::any_of(study.curves.begin(), study.curves.end(), holds);
  };
  const auto has_stall = [](const Point& point) { return point.stall.has_value(); };
  if (is_trained(study)) {
    charts.push_back(delivered_chart(study, verdict));
  }
  if (any([](const Curve& one) { return !one.supply.empty(); })) {
    charts.push_back(supply_chart(study, verdict));
  }
  if (any([&](const Curve& one) { return std::ranges::any_of(one.delivered, has_stall); })) {
    charts.push_back(stall_chart(study));
  }
  if (!attribute(study).empty()) charts.push_back(time_chart(study));
  if (!study.curves.empty()) charts.push_back(formats_chart(study));
  return charts;
}

std::vector<Chart> training_charts(const std::vector<TrainingCurve>& trainings) {
  std::vector<Chart> charts;
  const auto add = [&](LineChart chart, const char* name, const char* title, const char* unit) {
    if (chart.series.empty()) return;
    chart.title = title;
    chart.y_title = unit;
    charts.push_back({name, title, "The line is training, open marks are validation.", draw(chart),
                      step_table(trainings)});
  };
  add(over_steps(trainings, [](const TrainingCurve::Mark& mark) { return mark.loss; }), "loss",
      "Loss", "loss");
  add(over_steps(trainings,
                 [](const TrainingCurve::Mark& mark) {
                   return mark.accuracy ? std::optional(100 * *mark.accuracy) : std::nullopt;
                 }),
      "accuracy", "Accuracy", "% right");
  return charts;
}

}  // namespace feedrate::tools
