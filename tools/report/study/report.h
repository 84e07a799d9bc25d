#pragma once
// Report: what rows say, before any of it is drawn or written.

#include <string>
#include <vector>

#include "tools/report/study/study.h"
#include "tools/report/study/training_curve.h"
#include "tools/report/study/verdict.h"

namespace feedrate::tools {

struct Report {
  std::vector<Run> runs;
  std::vector<Study> studies;
  std::vector<StudyVerdict> verdicts;  // by study
  std::vector<std::string> doubts;
  std::vector<TrainingCurve> trainings;
};

/// What makes rows doubtful, said before anyone relies on them: a debug build, more threads than
/// cores, a wide spread, workers that never came, a GPU that slowed itself, several machines or
/// commits in one file, more delivered than the trainer can take.
std::vector<std::string> doubts(const std::vector<Run>& runs, const std::vector<Study>& studies);

Report make_report(std::vector<Run> runs, std::vector<TrainingCurve> trainings = {});

}  // namespace feedrate::tools
