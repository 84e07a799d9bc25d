#pragma once
// What makes rows doubtful, said before anyone relies on them.

#include <string>
#include <vector>

#include "tools/report/study/study.h"

namespace feedrate::tools {

/// Sentences about a debug build, more threads than cores, a wide spread, workers that never came,
/// a GPU that slowed itself, several machines or commits in one file, more delivered than the
/// trainer can take.
std::vector<std::string> doubts(const std::vector<Run>& runs, const std::vector<Study>& studies);

}  // namespace feedrate::tools
