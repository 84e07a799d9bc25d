#include "tools/lab/report/draw/bar_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/console/text.h"
#include "tools/lab/report/draw/axis.h"
#include "tools/lab/report/draw/legend.h"

namespace feedrate::tools {
namespace {

using Bar = BarChart::Bar;
using Part = BarChart::Part;

constexpr double bars_left = 8, bars_top = 8;
constexpr double bar_line = 40, thickness = 16;  // a bar lies below its name
constexpr double part_sample = 10;               // of a part's colour, in the legend

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
    std::vector<std::string> parts;
    for (const Part& part : bar.parts) parts.push_back(tip(chart, part));
    text += fmt::format(". {}: {}", bar.name, fmt::join(parts, ", "));
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

std::vector<std::string> names_of(const std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.emplace_back(part.name);
  return names;
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
  const double bottom = bars_top + bar_line * static_cast<double>(chart.bars.size()) + 4;
  const std::vector<Part> parts = legend_of(chart);
  const std::vector<At> places =
      legend_places(names_of(parts), {bars_left, bottom + 62}, part_sample);
  const auto x = [&](double value) {
    return bars_left + value / ticks.back() * (card_right - bars_left);
  };

  Svg svg({card_width, (places.empty() ? bottom + 44 : places.back().y) + 8}, chart.title,
          description(chart));
  double next = 0;  // where the last label ended
  for (const double tick : ticks) {
    svg.line({x(tick), bars_top}, {x(tick), bottom}, "grid");
    const std::string label = short_quantity(tick);
    const double half = width_of(label) / 2;
    if (x(tick) - half < next || x(tick) + half > card_width) continue;
    svg.text({x(tick), bottom + 18}, "middle", "", label);
    next = x(tick) + half + 4;
  }
  svg.text({(bars_left + card_right) / 2, bottom + 37}, "middle", "", chart.unit);

  double y = bars_top;
  for (const Bar& bar : chart.bars) {
    svg.text({bars_left, y + 13}, "start", "strong", shown_name(bar.name));
    double from = 0;
    for (const Part& part : bar.parts) {
      svg.area(box({x(from), y + 19}, x(from + part.value) - x(from), thickness), classes_of(part),
               tip(chart, part));
      from += part.value;
    }
    y += bar_line;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const At at = places[i];
    svg.area(box({at.x, at.y - part_sample}, part_sample, part_sample), classes_of(parts[i]),
             parts[i].name);
    svg.text({at.x + part_sample + legend_gap, at.y}, "start", "", parts[i].name);
  }
  return svg;
}

}  // namespace feedrate::tools
