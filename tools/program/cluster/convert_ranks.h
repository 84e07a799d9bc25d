#pragma once
// A conversion by all ranks that mpirun or srun started (trainer/communicators/communicator.h).

#include <exception>
#include <vector>

#include "tools/program/cluster/job.h"

namespace feedrate::tools {

/// Another rank failed, and says why.
class AnotherRankFailed : public std::exception {
 public:
  const char* what() const noexcept override { return "another rank failed"; }
};

/// The ranks take one piece after the other; those that an earlier run finished are kept, and those
/// that it began are continued. Then the first rank joins them, into the same files that one process
/// makes. On the first rank the result is what was made; on the others it is empty. Every rank
/// throws if one fails: that one an Error which names it and the piece, the others
/// AnotherRankFailed. The last thing that a process does with world().
std::vector<Converted> convert_by_ranks(const ConversionJob& job);

}  // namespace feedrate::tools
