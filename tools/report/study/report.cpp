#include "tools/report/study/report.h"

namespace feedrate::tools {

Report make_report(std::vector<Run> runs, std::vector<TrainingCurve> trainings) {
  Report report;
  report.studies = make_studies(runs);
  for (const Study& study : report.studies) report.verdicts.push_back(judge(study));
  report.doubts = doubts(runs, report.studies);
  report.runs = std::move(runs);
  report.trainings = std::move(trainings);
  return report;
}

}  // namespace feedrate::tools
