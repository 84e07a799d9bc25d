#pragma once
// The charts of a report. Drawn once: for the page and for files.

#include <string>
#include <vector>

#include "tools/report/draw/svg.h"
#include "tools/report/study/report.h"

namespace feedrate::tools {

struct Chart {
  std::string name;     // "delivered": of its file
  std::string title;    // "Delivered"
  std::string caption;  // a sentence or two below it
  Svg svg;
};

/// Those for which something was measured: delivered, supply, stall, where the time goes.
std::vector<Chart> study_charts(const Study& study, const StudyVerdict& verdict);

/// Loss and accuracy over steps.
std::vector<Chart> training_charts(const std::vector<TrainingCurve>& trainings);

}  // namespace feedrate::tools
