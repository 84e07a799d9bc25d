#pragma once
// A chart of values over threads or steps, drawn once for the page and for files. Pure.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/draw/svg.h"

namespace feedrate::tools {

struct LineChart {
  struct Dot {
    double x = 0;
    double y = 0;
    double low = 0;  // of repeats; both 0: none
    double high = 0;
  };
  struct Series {
    std::string name;
    unsigned style = 0;
    std::vector<Dot> dots{};      // the curve; of many dots the line alone
    std::vector<At> predicted{};  // thin and dashed
    std::vector<Dot> marks{};     // without a line, hollow
  };
  struct Ring {
    At at;
    std::string words;
  };

  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<Series> series{};
  std::optional<double> demand{};  // a line across
  std::optional<Ring> ring{};
};

/// Those who cannot see it are told the last value of each curve.
Svg draw(const LineChart& chart);

}  // namespace feedrate::tools
