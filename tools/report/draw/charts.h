#pragma once
// The charts of a report, with the figures behind each. Drawn once: for the page and for files.

#include <string>
#include <vector>

#include "tools/report/draw/svg.h"
#include "tools/report/draw/training_curve.h"
#include "tools/report/study/study.h"
#include "tools/report/study/verdict.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

struct Chart {
  std::string name;     // "delivered": of its file
  std::string title;    // "Delivered"
  std::string caption;  // a sentence below it
  Svg svg;
  Table data;
};

/// Those for which something was measured: delivered, supply, stall, where the time goes, formats
/// side by side.
std::vector<Chart> study_charts(const Study& study, const Verdict& verdict);

/// Loss and accuracy over steps.
std::vector<Chart> training_charts(const std::vector<TrainingCurve>& trainings);

}  // namespace feedrate::tools
