#include "tools/lab/report/draw/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/report/draw/axis.h"

namespace feedrate::tools {
namespace {

using Bar = BarChart::Bar;
using Part = BarChart::Part;

// The width of a card on a phone, as of a line chart.
constexpr double width = 340, left = 8, right = width - 12;
constexpr double top = 8, line = 40, thickness = 16;  // a bar lies below its name
constexpr double legend_line = 18, sample = 10;
constexpr std::size_t max_name_columns = 44;

/// There are more parts than colours: the others are pale.
std::string classes_of(const Part& part) {
  return series_class(part.style) + (part.style < series_styles ? " part" : " part pale");
}

double length_of(const Bar& bar) {
  double length = 0;
  for (const Part& part : bar.parts) length += part.value;
  return length;
}

std::string tip(const BarChart& chart, const Part& part) {
  return fmt::format("{} {} {}", part.name, quantity(part.value), chart.unit);
}

std::string description(const BarChart& chart) {
  std::string text = chart.unit;
  for (const Bar& bar : chart.bars) {
    text += ". " + bar.name + ":";
    for (const Part& part : bar.parts) text += " " + tip(chart, part) + ",";
    text.pop_back();
  }
  return text;
}

/// The parts of all bars, each name once, in the order of the bars.
std::vector<Part> legend_of(const BarChart& chart) {
  std::vector<Part> names;
  for (const Bar& bar : chart.bars) {
    for (const Part& part : bar.parts) {
      if (std::ranges::find(names, part.name, &Part::name) == names.end()) names.push_back(part);
    }
  }
  std::ranges::stable_sort(names, {}, &Part::style);
  return names;
}

struct LegendItem {
  At at;
  Part part;
};

/// From left to right, in as many lines as needed.
std::vector<LegendItem> placed(const std::vector<Part>& names, double first_line) {
  std::vector<LegendItem> items;
  At at{left, first_line};
  for (const Part& part : names) {
    const double needed = sample + 6 + width_of(part.name);
    if (at.x > left && at.x + needed > width) at = {left, at.y + legend_line};
    items.push_back({at, part});
    at.x += needed + 14;
  }
  return items;
}

/// A rectangle, closed.
std::vector<At> box(At corner, double wide, double high) {
  return {corner,
          {corner.x + wide, corner.y},
          {corner.x + wide, corner.y + high},
          {corner.x, corner.y + high},
          corner};
}

}  // namespace

Svg draw(const BarChart& chart) {
  double longest = 0;
  for (const Bar& bar : chart.bars) longest = std::max(longest, length_of(bar));
  const std::vector<double> ticks = even_ticks(longest);
  const double bottom = top + line * static_cast<double>(chart.bars.size()) + 4;
  const std::vector<LegendItem> legend = placed(legend_of(chart), bottom + 62);
  const auto x = [&](double value) { return left + value / ticks.back() * (right - left); };

  Svg svg({width, (legend.empty() ? bottom + 44 : legend.back().at.y) + 8}, chart.title,
          description(chart));
  double next = 0;  // where the last label ended
  for (const double tick : ticks) {
    svg.line({x(tick), top}, {x(tick), bottom}, "grid");
    const std::string label = short_quantity(tick);
    const double half = width_of(label) / 2;
    if (x(tick) - half < next || x(tick) + half > width) continue;
    svg.text({x(tick), bottom + 18}, "middle", "", label);
    next = x(tick) + half + 4;
  }
  svg.text({(left + right) / 2, bottom + 37}, "middle", "", chart.unit);

  double y = top;
  for (const Bar& bar : chart.bars) {
    svg.text({left, y + 13}, "start", "strong",
             fitted_name(bar.name, std::min(columns_of(bar.name), max_name_columns)));
    double from = 0;
    for (const Part& part : bar.parts) {
      svg.area(box({x(from), y + 19}, x(from + part.value) - x(from), thickness), classes_of(part),
               tip(chart, part));
      from += part.value;
    }
    y += line;
  }
  for (const LegendItem& item : legend) {
    svg.area(box({item.at.x, item.at.y - sample}, sample, sample), classes_of(item.part),
             item.part.name);
    svg.text({item.at.x + sample + 6, item.at.y}, "start", "", item.part.name);
  }
  return svg;
}

}  // namespace feedrate::tools
