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
    std::string told{};  // said where a pointer rests on it
  };
  struct Series {
    std::string name;
    unsigned style = 0;
    std::vector<Dot> dots{};      // the curve, with marks
    std::vector<At> predicted{};  // thin and dashed
    std::vector<At> beside{};     // faint, as far as it lies in the chart: another rate
    std::vector<Dot> marks{};     // without a line, hollow
  };
  struct Ring {
    At at;
    std::string words;
  };
  struct Band {
    double low = 0;
    double high = 0;
  };

  std::string title;
  std::string description;  // for those who cannot see it
  std::string x_title;
  std::string y_title;
  std::vector<Series> series;
  std::vector<double> x_ticks{};   // none: even ones from 0
  std::optional<double> demand{};  // a line across
  std::optional<Ring> ring{};
  std::optional<Band> band{};
  bool marked = true;  // each dot has its mark; else the line alone
};

Svg draw(const LineChart& chart);

}  // namespace feedrate::tools
