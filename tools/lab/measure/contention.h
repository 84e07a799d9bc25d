#pragma once
// Contention: whether other programs had the cores while something was measured. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

struct Contention {
  std::optional<double>
      machine_waits_percent{};  // of the time, some task of the machine waited for a core
  std::optional<double>
      waits_percent{};  // of the time that this process's threads could run, they waited for one
};
Contention contention_of(const Telemetry& telemetry);

/// The share of a core that each of a loader's threads got, where other programs had the cores; nothing where they
/// had not. There is a core for each thread. `ran`: CPU time per second of a thread; threads that wait for files run
/// less, too, so where the wait for a core is not known, it counts only while tasks of the machine wait for cores.
std::optional<double> ran_while_crowded(double ran, const Contention& contention);
/// The same of a row of supply.
std::optional<double> ran_while_crowded(const Row& row);

/// "other programs used the CPU: loader threads got 10 to 19 % of a core", of the least and the most of several.
std::string contention_text(double least, double most);

}  // namespace feedrate::tools
