#pragma once
// `--part auto`: a task of a Slurm array, or one of several processes that cannot talk to each
// other, converts the part that its launcher's variables give it.

#include <vector>

#include "tools/program/cluster/job.h"
#include "tools/program/cluster/place.h"

namespace feedrate::tools {

/// Converts part `place.number` of `place.count` of each split, or keeps what an earlier run made of
/// it. The process that finds all parts of a split whole joins them; exactly one does. Throws Error
/// if the split is cut into another number of parts already, and BeingWritten if another process
/// makes the same part.
std::vector<Converted> convert_own_part(const ConversionJob& job, const Place& place);

}  // namespace feedrate::tools
