#pragma once
// What a measurement costs: processor time, memory, energy. Absent means it could not be measured.

#include <cstdint>
#include <optional>
#include <vector>

namespace feedrate {

struct Telemetry {
  std::optional<double> cpu_seconds;     // user + system, all threads
  std::optional<double> peak_rss_mib;    // largest resident memory
  std::optional<double> cpu_energy_j;    // of the processor packages, other processes included
  std::optional<double> gpu_memory_mib;  // in use on the device
  std::optional<double> gpu_power_w;     // mean
  std::optional<double> gpu_energy_j;
};

/// Energy of all processor packages between construction and joules(), from the kernel's powercap
/// counters. One thread.
class EnergyMeter {
 public:
  EnergyMeter();
  /// Nothing when there are no counters or they may not be read.
  std::optional<double> joules() const;

 private:
  std::vector<std::uint64_t> start_;  // microjoules, by package
};

}  // namespace feedrate
