#include "tools/report/draw/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/text.h"
#include "tools/report/draw/axis.h"
#include "tools/report/study/verdict.h"

namespace feedrate::tools {
namespace {

using Bars = std::vector<AttributedPoint>;

constexpr double width = 480, left = 12, right = width - 24;
// Names stand above their bars, so that long ones do not shorten the bars.
constexpr double pitch = 42, thickness = 16;
constexpr const char* unit = "µs per image";

std::string name_of(const AttributedPoint& bar) {
  return bar.format + ", " + loader_threads(bar.threads);
}

std::string sum_of(const AttributedPoint& bar) { return quantity(bar.parts.total) + " µs"; }

std::string description(const Bars& bars) {
  std::string text = unit;
  for (const AttributedPoint& bar : bars) text += ". " + name_of(bar) + ": " + sum_of(bar);
  return text;
}

/// A part of the bars and its place in the legend.
struct Part {
  double Attribution::*member;
  std::string name, classes;
  At legend;
};

/// The parts that any bar shows. The legend takes as many lines as it needs.
std::vector<Part> drawn_parts(const Bars& bars) {
  std::vector<Part> parts;
  At at{8, 16};
  for (std::size_t i = 0; i < attribution_parts.size(); ++i) {
    const auto& [name, member] = attribution_parts.at(i);
    const auto has = [&](const AttributedPoint& bar) {
      return bar.parts.*member > negligible_part * bar.parts.total;
    };
    if (std::ranges::none_of(bars, has)) continue;
    const double needed = 28 + width_of(name);
    if (at.x + needed > width) at = {8, at.y + 18};
    parts.push_back({member, std::string(name), fmt::format("p{}", i), at});
    at.x += needed;
  }
  return parts;
}

}  // namespace

Svg draw_times(std::string_view title, const Bars& bars) {
  const std::vector<Part> parts = drawn_parts(bars);
  const double top = (parts.empty() ? 0 : parts.back().legend.y) + 12;
  const double bottom = top + static_cast<double>(bars.size()) * pitch + 4;
  Svg svg({width, bottom + 40}, title, description(bars));
  for (const Part& part : parts) {
    svg.rect({part.legend.x, part.legend.y - 10}, {11, 11}, part.classes);
    svg.text({part.legend.x + 16, part.legend.y}, "start", "", part.name);
  }
  double longest = 0;
  for (const AttributedPoint& bar : bars) longest = std::max(longest, bar.parts.total);
  const std::vector<double> ticks = even_ticks(longest * 1.02, 4);
  const auto x = [&](double value) { return left + value / ticks.back() * (right - left); };
  for (const double tick : ticks) {
    svg.line({x(tick), top}, {x(tick), bottom}, "grid");
    svg.text({x(tick), bottom + 16}, "middle", "", short_quantity(tick));
  }
  svg.text({(left + right) / 2, bottom + 34}, "middle", "", unit);
  double y = top + 16;
  for (const AttributedPoint& bar : bars) {
    svg.text({left, y}, "start", "strong rim", name_of(bar));
    svg.text({right, y}, "end", "rim", sum_of(bar));
    double at = 0;
    for (const Part& part : parts) {
      const double time = bar.parts.*part.member;
      svg.rect({x(at), y + 5}, {x(at + time) - x(at), thickness}, part.classes);
      at += time;
    }
    y += pitch;
  }
  return svg;
}

}  // namespace feedrate::tools
