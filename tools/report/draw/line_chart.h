#pragma once
// A chart of values over threads or steps. Pure function.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/draw/svg.h"

namespace feedrate::tools {

struct LineChart {
  struct Dot {
    double x = 0;
    double y = 0;
    double low = 0;   // slowest repeat
    double high = 0;  // fastest repeat; both 0: unknown
  };
  struct Series {
    std::string name;
    unsigned style = 0;
    std::vector<Dot> dots{};      // joined by a line; the dots themselves are drawn only when few
    std::vector<At> predicted{};  // a thin dashed line
    std::vector<Dot> marks{};     // hollow, without a line
  };
  struct Ring {
    At at;
    std::string label;
  };

  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<Series> series{};
  std::optional<double> demand{};  // a horizontal line
  std::optional<Ring> ring{};
};

/// For screen readers, the description gives the last value of each series.
Svg draw(const LineChart& chart);

}  // namespace feedrate::tools
