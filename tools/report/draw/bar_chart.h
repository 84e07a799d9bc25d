#pragma once
// Bars: stacked ones that divide a whole, and panels of plain ones that put formats side by side.
// Pure.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/draw/svg.h"

namespace feedrate::tools {

/// Horizontal bars whose parts add up.
struct StackedBars {
  struct Bar {
    std::string name;
    std::string words;          // at its end
    std::vector<double> parts;  // by `parts` below
  };
  std::string title;
  std::string description;
  std::string x_title;
  std::vector<std::string> parts;  // names, for the key; only those drawn are shown
  std::vector<Bar> bars;
};

Svg draw(const StackedBars& chart);

/// A panel for each quantity, a bar for each format; quantities have scales of their own.
struct BarPanels {
  struct Panel {
    std::string title;  // with its unit
    std::vector<std::optional<double>> values;
  };
  std::string title;
  std::string description;
  std::vector<std::string> names;  // of the bars, the same in each panel
  std::vector<unsigned> styles;
  std::vector<Panel> panels;
};

Svg draw(const BarPanels& chart);

}  // namespace feedrate::tools
