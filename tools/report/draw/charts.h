#pragma once
// The charts of a report, for the page and for SVG files. Pure functions.

#include <string>
#include <vector>

#include "tools/report/draw/svg.h"
#include "tools/report/study/report.h"

namespace feedrate::tools {

struct Chart {
  std::string name;     // "delivered", used in the file's name
  std::string title;    // "Delivered"
  std::string caption;  // one or two sentences
  Svg svg;
};

/// Delivered, supply, stall and where the time of an image goes, as far as measured.
std::vector<Chart> study_charts(const Study& study, const StudyVerdict& verdict);

/// Loss and accuracy over steps, as far as measured.
std::vector<Chart> training_charts(const std::vector<TrainingCurve>& trainings);

}  // namespace feedrate::tools
