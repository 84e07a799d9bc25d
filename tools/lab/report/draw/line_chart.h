#pragma once
// A chart of values over loader threads, narrow enough for a phone. Pure function.

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/report/draw/svg.h"

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
    std::vector<Dot> dots{};      // joined by a line
    std::vector<At> predicted{};  // a thin dashed line
    std::vector<Dot> beyond{};    // as that, without marks, between `low` and `high`
  };

  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<Series> series{};
  std::optional<double> demand{};  // a horizontal line
  std::optional<At> ring{};        // around a dot
};

/// For screen readers, the description gives the last value of each series.
Svg draw(const LineChart& chart);

}  // namespace feedrate::tools
