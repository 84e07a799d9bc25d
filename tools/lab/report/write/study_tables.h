#pragma once
// The tables of a report. A table without data has no rows. Pure functions.

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/report/study/report.h"
#include "tools/lab/report/write/table.h"

namespace feedrate::tools {

/// Every point of the curves; the chosen one is marked.
Table points_table(const Study& study, const StudyVerdict& verdict);
/// "1.2 %", or "unknown from one repeat".
std::string spread_text(const Point& point);

/// Each format at its knee, with its costs: processor time, memory, power and energy.
Table formats_table(const Study& study, const StudyVerdict& verdict);
/// Where the time of an image goes, in µs.
Table attribution_table(const Study& study);

/// One row for each verdict.
Table answers_table(const Report& report);
/// For each format and device, the cores that would feed it; without rows where no device is fed.
Table needs_table(const Report& report);

/// Label and value of every field of the environment. Values that differ between rows are listed
/// once each, in the order of the rows. The command comes last.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields machine_fields(const Report& report);

/// The terms of a report, for newcomers.
const Fields& glossary();

/// The error of the predictions; "" when nothing was predicted.
std::string prediction_sentence(const Study& study);

}  // namespace feedrate::tools
