#pragma once
// A chart of bars, one below the other, each of parts that add up; narrow enough for a phone. Pure function.

#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/report/draw/svg.h"

namespace feedrate::tools {

struct BarChart {
  struct Part {
    std::string_view name;
    double value = 0;
    unsigned style = 0;  // the same for the same name
  };
  struct Bar {
    std::string name;
    std::vector<Part> parts{};  // from left to right
  };

  std::string title;
  std::string unit;
  std::vector<Bar> bars{};
};

/// For screen readers, the description gives each bar's parts.
Svg draw(const BarChart& chart);

}  // namespace feedrate::tools
