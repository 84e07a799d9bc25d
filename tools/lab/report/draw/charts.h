#pragma once
// The charts of a report. Pure functions.

#include <string>
#include <vector>

#include "tools/lab/report/draw/svg.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {

struct Chart {
  std::string title;    // "Delivered"
  std::string caption;  // one or two sentences
  Svg svg;
};

/// Delivered, supply and stall over loader threads, and where the time of an image goes, as far as measured.
std::vector<Chart> study_charts(const Study& study, const StudyVerdict& verdict);

}  // namespace feedrate::tools
