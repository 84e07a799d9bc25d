#include "tools/report/draw/line_chart.h"

#include <algorithm>

#include "tools/cli/bars.h"
#include "tools/report/draw/axis.h"

namespace feedrate::tools {
namespace {

// A card of the page is about as wide, so that its words are about as large as the page's.
constexpr At chart_size{480, 320};
constexpr double top = 34, bottom = 276, left = 54;
constexpr double letter = 6.6;   // mean width of one, in bold
constexpr double line_gap = 15;  // between names
constexpr double widest_names = 170;

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart), svg_(chart_size, chart.title, chart.description) {
    double max_y = chart.demand.value_or(0);
    for (const LineChart::Series& series : chart.series) {
      for (const auto* dots : {&series.dots, &series.marks}) {
        for (const LineChart::Dot& dot : *dots) {
          max_y = std::max({max_y, dot.y, dot.high});
          max_x_ = std::max(max_x_, dot.x);
          least_x_ = std::min(least_x_, dot.x);
        }
      }
      for (const At& at : series.predicted) max_y = std::max(max_y, at.y);
    }
    // Room for the words above the highest line that has any.
    y_ticks_ = even_ticks(max_y * (chart.demand || chart.ring ? 1.08 : 1));
    x_ticks_ = chart.x_ticks.empty() ? even_ticks(max_x_) : chart.x_ticks;
    least_x_ = std::min(least_x_, x_ticks_.front());
    max_x_ = std::max(max_x_, x_ticks_.back());
    double names = chart.demand ? letter * static_cast<double>(columns_of(demand_text())) : 0;
    for (const LineChart::Series& series : chart.series) {
      names = std::max(names, letter * static_cast<double>(columns_of(series.name)));
    }
    right_ = chart_size.x - 20 - std::min(names, widest_names);
  }

  Svg draw() {
    axes();
    if (chart_.band) band(*chart_.band);
    if (chart_.demand) svg_.line({left, y(*chart_.demand)}, {right_, y(*chart_.demand)}, "demand");
    for (const LineChart::Series& series : chart_.series) add(series);
    if (chart_.ring) ring(*chart_.ring);
    names();
    return std::move(svg_);
  }

 private:
  double x(double value) const {
    const double pad = 12;
    const double range = max_x_ > least_x_ ? max_x_ - least_x_ : 1;
    const double share = max_x_ > least_x_ ? (value - least_x_) / range : 0.5;
    return left + pad + share * (right_ - left - 2 * pad);
  }
  double y(double value) const { return bottom - value / y_ticks_.back() * (bottom - top); }
  At at(At value) const { return {x(value.x), y(value.y)}; }

  void axes() {
    svg_.text({8, 16}, Anchor::start, "", chart_.y_title);
    for (const double tick : y_ticks_) {
      svg_.line({left, y(tick)}, {right_, y(tick)}, "grid");
      svg_.text({left - 8, y(tick) + 4}, Anchor::end, "", short_quantity(tick));
    }
    double free = 0;  // where the last figure ended
    for (const double tick : x_ticks_) {
      const std::string words = short_quantity(tick);
      const double half = letter * static_cast<double>(columns_of(words)) / 2;
      if (x(tick) - half < free) continue;
      svg_.text({x(tick), bottom + 18}, Anchor::middle, "", words);
      free = x(tick) + half + 4;
    }
    svg_.text({(left + right_) / 2, bottom + 37}, Anchor::middle, "", chart_.x_title);
  }

  void band(const LineChart::Band& band) {
    svg_.rect({left, y(band.high)}, {right_ - left, y(band.low) - y(band.high)}, "band",
              "as good as the fastest");
  }

  /// The part of a line that lies in the chart.
  std::vector<std::vector<At>> inside(const std::vector<At>& points) const {
    const double most = y_ticks_.back();
    std::vector<std::vector<At>> parts(1);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const At& here = points[i];
      if (i > 0 && (points[i - 1].y > most) != (here.y > most)) {
        const At& before = points[i - 1];
        const double share = (most - before.y) / (here.y - before.y);
        parts.back().push_back({before.x + share * (here.x - before.x), most});
        if (here.y > most) parts.emplace_back();
      }
      if (here.y <= most) parts.back().push_back(here);
    }
    return parts;
  }

  std::vector<At> placed(const std::vector<At>& values) const {
    std::vector<At> places;
    for (const At& value : values) places.push_back(at(value));
    return places;
  }

  void add(const LineChart::Series& series) {
    const std::string own = series_class(series.style);
    for (const std::vector<At>& part : inside(series.beside)) {
      svg_.path(placed(part), own + " supplied");
    }
    svg_.path(placed(series.predicted), own + " predicted");
    std::vector<At> curve;
    for (const LineChart::Dot& dot : series.dots) curve.push_back(at({dot.x, dot.y}));
    svg_.path(curve, own + " curve");
    for (const LineChart::Dot& dot : series.dots) {
      if (dot.high > dot.low)
        svg_.line(at({dot.x, dot.low}), at({dot.x, dot.high}), own + " range");
      if (chart_.marked) svg_.mark(at({dot.x, dot.y}), series.style, own + " mark", dot.told);
    }
    for (const LineChart::Dot& dot : series.marks) {
      svg_.mark(at({dot.x, dot.y}), series.style, own + " hollow", dot.told);
    }
  }

  void ring(const LineChart::Ring& ring) {
    const At centre = at(ring.at);
    svg_.ring(centre, 9, "ring");
    const bool is_left = centre.x <= (left + right_) / 2;
    svg_.text({centre.x + (is_left ? -6 : 6), centre.y - 15}, is_left ? Anchor::start : Anchor::end,
              "strong rim", ring.words);
  }

  /// What is written to the right of where a line ends.
  struct Name {
    At end;
    std::string words;
    std::string line;  // classes
    std::string text;
  };

  /// Each curve's name where it ends, and the demand's.
  void names() {
    std::vector<Name> named;
    if (chart_.demand) {
      named.push_back({{right_ - 7, y(*chart_.demand)}, demand_text(), "grid", "strong"});
    }
    for (const LineChart::Series& series : chart_.series) {
      const auto& dots = series.dots.empty() ? series.marks : series.dots;
      if (dots.empty()) continue;
      const std::string own = series_class(series.style);
      named.push_back({at({dots.back().x, dots.back().y}), fitted_name(series.name),
                       own + " leader", own + " name"});
    }
    std::vector<double> places;
    for (const Name& name : named) places.push_back(name.end.y);
    const std::vector<double> apart = spread_apart(places, line_gap, top, bottom);
    for (std::size_t i = 0; i < named.size(); ++i) {
      const Name& name = named[i];
      svg_.path({{name.end.x + 7, name.end.y}, {right_ + 3, apart[i]}, {right_ + 7, apart[i]}},
                name.line);
      svg_.text({right_ + 10, apart[i] + 4}, Anchor::start, name.text, name.words);
    }
  }

  std::string demand_text() const { return "demand " + short_quantity(*chart_.demand); }

  static std::string fitted_name(const std::string& name) {
    const auto most = static_cast<std::size_t>(widest_names / letter);
    return columns_of(name) > most ? fitted(name, most) : name;
  }

  const LineChart& chart_;
  Svg svg_;
  std::vector<double> x_ticks_, y_ticks_;
  double least_x_ = 1e300, max_x_ = 0;
  double right_ = 0;
};

}  // namespace

Svg draw(const LineChart& chart) { return Drawing(chart).draw(); }

}  // namespace feedrate::tools
