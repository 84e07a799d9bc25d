#include "tools/report/draw/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/cli/bars.h"
#include "tools/cli/text.h"
#include "tools/report/draw/axis.h"

namespace feedrate::tools {
namespace {

constexpr double width = 480;
constexpr double letter = 6.6;  // mean width of one
constexpr double row = 26, thick = 16;

double width_of(std::string_view words) { return letter * static_cast<double>(columns_of(words)); }

double total(const StackedBars::Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

/// The key's entries in lines of the chart's width; returns where the last line ends.
double add_key(Svg* svg, const StackedBars& chart, const std::vector<bool>& drawn) {
  double x = 8, y = 16;
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    if (!drawn[i]) continue;
    const double taken = 28 + width_of(chart.parts[i]);
    if (x + taken > width) x = 8, y += 18;
    if (svg != nullptr) {
      svg->rect({x, y - 10}, {11, 11}, fmt::format("p{}", i));
      svg->text({x + 16, y}, Anchor::start, "", chart.parts[i]);
    }
    x += taken;
  }
  return y;
}

}  // namespace

Svg draw(const StackedBars& chart) {
  std::vector<bool> drawn(chart.parts.size());
  double most = 0;
  for (const StackedBars::Bar& bar : chart.bars) {
    most = std::max(most, total(bar));
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
      // What rounds to nothing needs no colour in the key.
      drawn[i] = drawn[i] || bar.parts[i] > 0.002 * total(bar);
    }
  }
  const double top = add_key(nullptr, chart, drawn) + 12;
  const auto bars = static_cast<double>(chart.bars.size());
  // A name above each bar leaves the bar the whole width, which a long name would not.
  const double pitch = row + 16, bottom = top + bars * pitch + 4;
  Svg svg({width, bottom + 40}, chart.title, chart.description);
  add_key(&svg, chart, drawn);
  const std::vector<double> ticks = even_ticks(most * 1.02, 4);
  const double left = 12, right = width - 24;
  const auto x = [&](double value) { return left + value / ticks.back() * (right - left); };
  for (const double tick : ticks) {
    svg.line({x(tick), top}, {x(tick), bottom}, "grid");
    svg.text({x(tick), bottom + 16}, Anchor::middle, "", short_quantity(tick));
  }
  svg.text({(left + right) / 2, bottom + 34}, Anchor::middle, "", chart.x_title);
  double y = top + 16;
  for (const StackedBars::Bar& bar : chart.bars) {
    svg.text({left, y}, Anchor::start, "strong rim", bar.name);
    svg.text({right, y}, Anchor::end, "rim", bar.words);
    double at = 0;
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
      if (bar.parts[i] <= 0 || !drawn[i]) continue;
      svg.rect({x(at), y + 5}, {x(at + bar.parts[i]) - x(at), thick}, fmt::format("p{}", i),
               fmt::format("{}: {}, {:.1f} %", chart.parts[i], duration_text(bar.parts[i] * 1e-6),
                           100 * bar.parts[i] / total(bar)));
      at += bar.parts[i];
    }
    y += pitch;
  }
  return svg;
}

Svg draw(const BarPanels& chart) {
  constexpr double line = 20, head = 24, gap = 14;
  const auto bars = static_cast<double>(chart.names.size());
  const auto panels = static_cast<double>(chart.panels.size());
  const double height = 6 + panels * (head + bars * line + gap);
  Svg svg({width, height}, chart.title, chart.description);
  double names = 60, words = 50;
  for (const std::string& name : chart.names) names = std::max(names, width_of(name));
  names = std::min(names, 190.0);
  const double left = names + 16, right = width - words - 16;
  double y = 6;
  for (const BarPanels::Panel& panel : chart.panels) {
    double most = 0;
    for (const auto& value : panel.values) most = std::max(most, value.value_or(0));
    svg.text({8, y + 12}, Anchor::start, "strong", panel.title);
    y += head;
    for (std::size_t i = 0; i < chart.names.size(); ++i, y += line) {
      const std::string own = series_class(chart.styles[i]);
      const std::string name = fitted(
          chart.names[i],
          std::min(columns_of(chart.names[i]), static_cast<std::size_t>(names / letter + 0.5)));
      svg.text({left - 8, y + 10}, Anchor::end, "", name);
      const std::optional<double> value = panel.values[i];
      const double length = value && most > 0 ? *value / most * (right - left) : 0;
      if (value) svg.rect({left, y}, {std::max(length, 1.0), 13}, own + " bar");
      svg.text({left + length + 6, y + 11}, Anchor::start, value ? "strong" : "",
               value ? quantity(*value) : "–");
    }
    y += gap;
  }
  return svg;
}

}  // namespace feedrate::tools
