#pragma once
// A measurement in a process of its own: this program again, with other arguments.

#include <optional>
#include <string>
#include <vector>

namespace feedrate {

struct Finished {
  std::string output;  // what it wrote to stdout
  double cpu_seconds = 0;
  double peak_rss_mib = 0;
  std::optional<double> cpu_energy_j;  // of the whole machine meanwhile
};

/// Runs `feedrate <arguments…>` and waits for it. Throws Error with the last words of the process
/// when it does not exit with 0.
Finished run_self(const std::vector<std::string>& arguments);

}  // namespace feedrate
