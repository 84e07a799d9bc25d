#pragma once
// Starts programs as the ranks of an MPI job.

#include <string>
#include <vector>

#include "tests/support/run_program.h"

namespace feedrate::testing {

/// Whether mpirun is installed and this build has the MPI plug-in.
inline bool has_mpi() {
  return run_program("sh", {"-c", "command -v mpirun"}).code == 0 &&
         std::filesystem::exists(beside_this_program("libfeedrate_mpi.so"));
}

/// The words after "mpirun" that start `words` that many times. More ranks than cores, none bound to
/// one: nothing here should need a cluster.
inline std::vector<std::string> ranks_of(unsigned ranks, const std::vector<std::string>& words) {
  std::vector<std::string> all = {
      "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

inline Said mpirun(unsigned ranks, const std::vector<std::string>& words) {
  return run_program("mpirun", ranks_of(ranks, words));
}

}  // namespace feedrate::testing
