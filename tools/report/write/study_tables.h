#pragma once
// The tables of a study. Without rows where nothing of the kind was measured.

#include "tools/report/study/study.h"
#include "tools/report/study/verdict.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

/// Every point of the curves, the verdict's marked.
Table points_table(const Study& study, const Verdict& verdict);
/// Each format at its knee.
Table formats_table(const Study& study, const Verdict& verdict);
/// How far what was predicted lay from what came.
Table prediction_table(const Study& study);
/// Where an image's time goes: µs that add up.
Table attribution_table(const Study& study);
/// Processor time, waiting, memory and energy at the knee, and how sure its rate is.
Table costs_table(const Study& study);
Table device_costs_table(const Study& study);

/// The verdict of each study in a line.
Table answers_table(const std::vector<Study>& studies, const std::vector<Verdict>& verdicts);

/// The knee of what was delivered, or of supply where nothing of the study was trained; null for
/// neither.
const Point* shown_knee(const Study& study, const Curve& curve);

/// Of a study's curves, or one's, the errors of all its predictions in percent.
std::vector<double> prediction_errors(const Study& study);
std::vector<double> prediction_errors(const Curve& curve);

}  // namespace feedrate::tools
