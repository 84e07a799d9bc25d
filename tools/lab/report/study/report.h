#pragma once
// Report: the rows with their studies and verdicts, ready to be drawn and written.

#include <string>
#include <vector>

#include "tools/lab/report/study/study.h"
#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {

struct Report {
  std::vector<Row> rows;
  std::vector<Study> studies;
  std::vector<StudyVerdict> verdicts;  // one for each study
  std::vector<std::string> doubts;
};

/// Reasons to doubt the rows, a sentence each: a debug build, an emulated trainer, more threads than cores,
/// missing workers, a wide spread, cores that others took, a throttled GPU, delivered above demand, several
/// machines or commits.
std::vector<std::string> doubts(const std::vector<Row>& rows, const std::vector<Study>& studies);

Report make_report(std::vector<Row> rows);

}  // namespace feedrate::tools
