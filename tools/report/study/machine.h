#pragma once
// The machine and the build behind rows, and the rows themselves, as a page shows them.

#include <string>
#include <utility>
#include <vector>

#include "tools/report/study/study.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

/// Every field of the environment by its name for people, with what it was in these rows: each
/// value once, in the order of the rows. The command comes last.
std::vector<std::pair<std::string, std::string>> machine_fields(const std::vector<Run>& runs,
                                                                const std::vector<Study>& studies);

/// Every row, demand first, then supply, then delivered; what no row has is no column.
Table rows_table(const std::vector<Run>& runs);

}  // namespace feedrate::tools
