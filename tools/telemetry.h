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

/// Processor time of this process so far: user + system, all threads.
double process_cpu_seconds();

/// What process_cpu_seconds() grows by between start() and stop(), as often as they come.
class CpuMeter {
 public:
  void start();
  void stop();
  double seconds() const { return seconds_; }  // until the last stop()

 private:
  std::optional<double> start_;  // absent: it stands still
  double seconds_ = 0;
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
