#pragma once
// The tables of a report. Without rows where nothing of the kind was measured.

#include "tools/report/study/report.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

/// Every point of the curves, the verdict's marked.
Table points_table(const Study& study, const StudyVerdict& verdict);
/// Each format at its knee, with what it costs there: processor time, memory, power and energy.
Table formats_table(const Study& study, const StudyVerdict& verdict);
/// Where an image's time goes: µs that add up.
Table attribution_table(const Study& study);

/// The verdict of each study in a line.
Table answers_table(const Report& report);
/// Where each training ended.
Table training_table(const std::vector<TrainingCurve>& trainings);

/// Every field of the environment by its name for people, with what it was in these rows: each
/// value once, in the order of the rows. The command comes last.
Table machine_table(const Report& report);

/// How far predictions were off, in a sentence; "" where nothing was predicted.
std::string prediction_sentence(const Study& study);

}  // namespace feedrate::tools
