#pragma once
// The tables of one study. Without rows where nothing of the kind was measured.

#include "tools/report/study.h"
#include "tools/report/table.h"
#include "tools/report/verdict.h"

namespace feedrate {

/// Every point of the curves, the verdict's marked.
Table points_table(const Study& study, const Verdict& verdict);
/// Each format at its knee.
Table formats_table(const Study& study, const Verdict& verdict);
/// How far what was predicted lay from what came.
Table prediction_table(const Study& study);
/// Where an image's time goes: µs that add up.
Table attribution_table(const Study& study);
/// Memory, power, processor time and waiting at the knee, and how sure its rate is.
Table costs_table(const Study& study);

/// Of a study's curves, or one's, the errors of all its predictions in percent.
std::vector<double> prediction_errors(const Study& study);
std::vector<double> prediction_errors(const Curve& curve);

}  // namespace feedrate
