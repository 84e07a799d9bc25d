#include "tools/lab/report/study/report.h"

namespace feedrate::tools {

Report make_report(std::vector<Row> rows) {
  Report report;
  report.studies = make_studies(rows);
  for (const Study& study : report.studies) report.verdicts.push_back(judge(study));
  report.doubts = doubts(rows, report.studies);
  report.rows = std::move(rows);
  return report;
}

}  // namespace feedrate::tools
