#include "tools/report/draw/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/cli/bars.h"
#include "tools/cli/text.h"
#include "tools/report/draw/axis.h"

namespace feedrate::tools {
namespace {

using Dot = LineChart::Dot;
using Series = LineChart::Series;

// About the width of a card on the page, so that text keeps about its size.
constexpr At chart_size{480, 320};
constexpr double top = 34, bottom = 276, left = 54;
constexpr double pad = 12;       // between the axis and the first dot
constexpr double name_gap = 15;  // between the names of curves
constexpr std::size_t max_name_columns = 25;
constexpr std::size_t max_marks = 20;  // with more values of x, lines have no marks

std::string demand_text(double demand) { return "demand " + short_quantity(demand); }

std::string shown_name(const Series& series) {
  return fitted(series.name, std::min(columns_of(series.name), max_name_columns));
}

const Dot* last_of(const Series& series) {
  const auto& dots = series.dots.empty() ? series.marks : series.dots;
  return dots.empty() ? nullptr : &dots.back();
}

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart), svg_(chart_size, chart.title, description()) {
    double max_y = chart.demand.value_or(0), name_width = 0;
    std::set<double> x_values;
    if (chart.demand) name_width = width_of(demand_text(*chart.demand));
    for (const Series& series : chart.series) {
      for (const auto* dots : {&series.dots, &series.marks}) {
        for (const Dot& dot : *dots) {
          max_y = std::max({max_y, dot.y, dot.high});
          x_values.insert(dot.x);
        }
      }
      for (const At& at : series.predicted) max_y = std::max(max_y, at.y);
      name_width = std::max(name_width, width_of(shown_name(series)));
    }
    // Leaves room above the highest line for its label.
    y_ticks_ = even_ticks(max_y * (chart.demand || chart.ring ? 1.08 : 1));
    is_dense_ = x_values.empty() || x_values.size() > max_marks;
    x_ticks_.assign(x_values.begin(), x_values.end());
    if (is_dense_) x_ticks_ = even_ticks(x_values.empty() ? 0 : *x_values.rbegin());
    right_ = chart_size.x - 20 - name_width;
  }

  Svg draw() {
    axes();
    if (chart_.demand) svg_.line({left, y(*chart_.demand)}, {right_, y(*chart_.demand)}, "demand");
    for (const Series& series : chart_.series) add(series);
    if (chart_.ring) ring(*chart_.ring);
    names();
    return std::move(svg_);
  }

 private:
  std::string tip(const Series& series, const Dot& dot) const {
    return fmt::format("{}: {} {} at {} {}", series.name, quantity(dot.y), chart_.y_title, dot.x,
                       chart_.x_title);
  }

  std::string description() const {
    std::string text = chart_.y_title + " over " + chart_.x_title;
    for (const Series& series : chart_.series) {
      if (const Dot* last = last_of(series)) text += ". " + tip(series, *last);
    }
    return text;
  }

  double x(double value) const {
    const double range = x_ticks_.back() - x_ticks_.front();
    const double share = range > 0 ? (value - x_ticks_.front()) / range : 0.5;
    return left + pad + share * (right_ - left - 2 * pad);
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
      svg_.line({left, y(tick)}, {right_, y(tick)}, "grid");
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
    svg_.text({(left + right_) / 2, bottom + 37}, "middle", "", chart_.x_title);
  }

  void add(const Series& series) {
    const std::string own = series_class(series.style);
    svg_.path(all_at(series.predicted), own + " predicted");
    svg_.path(all_at(series.dots), own + " curve");
    for (const Dot& dot : series.dots) {
      if (dot.high > dot.low)
        svg_.line(at(At{dot.x, dot.low}), at(At{dot.x, dot.high}), own + " range");
      if (!is_dense_) svg_.mark(at(dot), series.style, own + " mark", tip(series, dot));
    }
    for (const Dot& dot : series.marks) {
      svg_.mark(at(dot), series.style, own + " hollow", tip(series, dot));
    }
  }

  void ring(const LineChart::Ring& ring) {
    const At centre = at(ring.at);
    svg_.ring(centre, 9, "ring");
    const bool is_left = centre.x <= (left + right_) / 2;
    // The label goes below the ring if the line of demand would cross it above.
    const double above = centre.y - (chart_.demand ? y(*chart_.demand) : centre.y);
    const double below = above > 10 && above < 30 ? 24 : -15;
    svg_.text({centre.x + (is_left ? -6 : 6), centre.y + below}, is_left ? "start" : "end",
              "strong rim", ring.label);
  }

  /// Writes the names of demand and of each curve, beside their ends.
  void names() {
    struct Name {
      At end;
      std::string text, line_classes, text_classes;
    };
    std::vector<Name> named;
    if (chart_.demand) {
      const double demand = *chart_.demand;
      named.push_back({{right_ - 7, y(demand)}, demand_text(demand), "grid", "strong"});
    }
    for (const Series& series : chart_.series) {
      const std::string own = series_class(series.style);
      const Dot* last = last_of(series);
      if (last == nullptr) continue;
      named.push_back({at(*last), shown_name(series), own + " leader", own + " name"});
    }
    std::vector<double> heights;
    for (const Name& name : named) heights.push_back(name.end.y);
    heights = spread_apart(std::move(heights), name_gap, top, bottom);
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto& [end, text, line_classes, text_classes] = named[i];
      svg_.path({{end.x + 7, end.y}, {right_ + 3, heights[i]}, {right_ + 7, heights[i]}},
                line_classes);
      svg_.text({right_ + 10, heights[i] + 4}, "start", text_classes, text);
    }
  }

  const LineChart& chart_;
  Svg svg_;
  std::vector<double> x_ticks_, y_ticks_;
  double right_ = 0;
  bool is_dense_ = false;
};

}  // namespace

Svg draw(const LineChart& chart) { return Drawing(chart).draw(); }

}  // namespace feedrate::tools
