#include "tools/lab/report/draw/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/console/text.h"
#include "tools/lab/report/draw/axis.h"
#include "tools/lab/report/draw/legend.h"

namespace feedrate::tools {
namespace {

using Dot = LineChart::Dot;
using Series = LineChart::Series;

constexpr double top = 34, bottom = 226, left = 50;
constexpr double pad = 12;  // between the axis and the first dot
constexpr double legend_top = bottom + 62, sample_width = 22;

/// A sample of a line and its name.
struct LegendItem {
  At at;
  std::string name;
  const Series* series = nullptr;  // null: demand
};

std::vector<LegendItem> legend_of(const LineChart& chart) {
  std::vector<LegendItem> items;
  if (chart.demand) items.push_back({{}, "demand " + short_quantity(*chart.demand)});
  for (const Series& series : chart.series) items.push_back({{}, shown_name(series.name), &series});
  std::vector<std::string> names;
  for (const LegendItem& item : items) names.push_back(item.name);
  const std::vector<At> places = legend_places(names, {8, legend_top}, sample_width);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].at = places[i];
  return items;
}

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart),
        legend_(legend_of(chart)),
        svg_({card_width, (legend_.empty() ? legend_top : legend_.back().at.y) + 8}, chart.title,
             description()) {
    double max_y = chart.demand.value_or(0);
    std::set<double> x_values;
    for (const Series& series : chart.series) {
      for (const Dot& dot : series.dots) {
        max_y = std::max({max_y, dot.y, dot.high});
        x_values.insert(dot.x);
      }
      for (const At& at : series.predicted) max_y = std::max(max_y, at.y);
      for (const Dot& dot : series.beyond) max_y = std::max(max_y, dot.high);
    }
    y_ticks_ = even_ticks(max_y);
    x_ticks_ = x_ticks(x_values);
  }

  Svg draw() {
    axes();
    if (chart_.demand)
      svg_.line({left, y(*chart_.demand)}, {card_right, y(*chart_.demand)}, "demand");
    for (const Series& series : chart_.series) add(series);
    if (chart_.ring) svg_.ring(at(*chart_.ring), 9, "ring");
    legend();
    return std::move(svg_);
  }

 private:
  /// Where dots are, and whole numbers beyond them.
  std::vector<double> x_ticks(std::set<double> measured) const {
    double last = 0;
    for (const Series& series : chart_.series) {
      for (const Dot& dot : series.beyond) last = std::max(last, dot.x);
    }
    const double most = measured.empty() ? 0 : *measured.rbegin();
    if (last > most) {
      for (const double tick : even_ticks(last)) {
        if (tick > most && tick < last && std::floor(tick) == tick) measured.insert(tick);
      }
      measured.insert(last);
    }
    return {measured.begin(), measured.end()};
  }

  std::string tip(const Series& series, const Dot& dot) const {
    return fmt::format("{}: {} {} at {} {}", series.name, quantity(dot.y), chart_.y_title, dot.x,
                       chart_.x_title);
  }

  std::string description() const {
    std::string text = chart_.y_title + " over " + chart_.x_title;
    for (const Series& series : chart_.series) {
      if (!series.dots.empty()) text += ". " + tip(series, series.dots.back());
    }
    return text;
  }

  double x(double value) const {
    const double range = x_ticks_.back() - x_ticks_.front();
    const double share = range > 0 ? (value - x_ticks_.front()) / range : 0.5;
    return left + pad + share * (card_right - left - 2 * pad);
  }
  double y(double value) const { return bottom - value / y_ticks_.back() * (bottom - top); }
  At at(const auto& value) const { return {x(value.x), y(value.y)}; }

  template <class Points>
  std::vector<At> all_at(const Points& points) const {
    std::vector<At> positions;
    for (const auto& point : points) positions.push_back(at(point));
    return positions;
  }

  void axes() {
    svg_.text({8, 16}, "start", "", chart_.y_title);
    for (const double tick : y_ticks_) {
      svg_.line({left, y(tick)}, {card_right, y(tick)}, "grid");
      svg_.text({left - 8, y(tick) + 4}, "end", "", short_quantity(tick));
    }
    double next_x = 0;  // where the last label ended
    for (const double tick : x_ticks_) {
      const std::string label = short_quantity(tick);
      const double half = width_of(label) / 2;
      if (x(tick) - half < next_x) continue;
      svg_.text({x(tick), bottom + 18}, "middle", "", label);
      next_x = x(tick) + half + 4;
    }
    svg_.text({(left + card_right) / 2, bottom + 37}, "middle", "", chart_.x_title);
  }

  void add(const Series& series) {
    const std::string own = series_class(series.style);
    std::vector<At> band;
    for (const Dot& dot : series.beyond) band.push_back(at(At{dot.x, dot.low}));
    for (auto dot = series.beyond.rbegin(); dot != series.beyond.rend(); ++dot) {
      band.push_back(at(At{dot->x, dot->high}));
    }
    svg_.path(band, own + " band");
    svg_.path(all_at(series.beyond), own + " predicted");
    svg_.path(all_at(series.predicted), own + " predicted");
    svg_.path(all_at(series.dots), own + " curve");
    for (const Dot& dot : series.dots) {
      if (dot.high > dot.low)
        svg_.line(at(At{dot.x, dot.low}), at(At{dot.x, dot.high}), own + " range");
      svg_.mark(at(dot), series.style, own + " mark", tip(series, dot));
    }
  }

  void legend() {
    for (const LegendItem& item : legend_) {
      const At from{item.at.x, item.at.y - 4}, to{from.x + sample_width, from.y};
      const std::string own = item.series ? series_class(item.series->style) : "";
      svg_.path({from, to}, item.series ? own + " curve" : "demand");
      if (item.series) {
        svg_.mark({(from.x + to.x) / 2, from.y}, item.series->style, own + " mark", item.name);
      }
      svg_.text({to.x + legend_gap, item.at.y}, "start", item.series ? own + " name" : "strong",
                item.name);
    }
  }

  const LineChart& chart_;
  std::vector<LegendItem> legend_;
  Svg svg_;
  std::vector<double> x_ticks_, y_ticks_;
};

}  // namespace

Svg draw(const LineChart& chart) { return Drawing(chart).draw(); }

}  // namespace feedrate::tools
