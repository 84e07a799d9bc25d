#include "tools/lab/report/study/report.h"

namespace feedrate::tools {

Report make_report(std::vector<Run> runs) {
  Report report;
  report.studies = make_studies(runs);
  for (const Study& study : report.studies) report.verdicts.push_back(judge(study));
  report.doubts = doubts(runs, report.studies);
  report.runs = std::move(runs);
  return report;
}

}  // namespace feedrate::tools
