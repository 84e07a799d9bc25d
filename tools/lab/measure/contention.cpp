#include "tools/lab/measure/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace feedrate::tools {

Contention contention_of(const Telemetry& telemetry) {
  return {.machine_waits_percent = telemetry.psi_cpu_percent,
          .waits_percent = telemetry.core_wait_percent};
}

std::optional<double> ran_while_crowded(double ran, const Contention& contention) {
  constexpr double enough = 0.8;  // of a core
  if (contention.waits_percent) {
    const double got = 1 - *contention.waits_percent / 100;
    return got < enough ? std::optional(std::max(got, 0.01)) : std::nullopt;
  }
  constexpr double most = 0.9, least_waiting_percent = 20;  // on a quiet machine: 0.97 and 15 %
  const bool is_crowded = contention.machine_waits_percent.value_or(0) >= least_waiting_percent;
  return is_crowded && ran > 0 && ran < most ? std::optional(ran) : std::nullopt;
}

std::optional<double> ran_while_crowded(const Row& row) {
  const unsigned threads = std::max(1U, row.threads.value_or(0));
  if (row.kind != supply_kind || threads > row.environment.cores || !row.cpu_us) return {};
  return ran_while_crowded(*row.cpu_us * 1e-6 * row.images_per_second / threads,
                           contention_of(row.telemetry));
}

std::string contention_text(double least, double most) {
  const long low = std::lround(100 * least), high = std::lround(100 * most);
  return fmt::format("other programs used the CPU: loader threads got {}{} % of a core", low,
                     low == high ? "" : fmt::format(" to {}", high));
}

}  // namespace feedrate::tools
