#pragma once
// What a run cost while it was on the clock, without its start-up and its pauses: processor time,
// memory, waiting, energy, copies. Absent means that it could not be measured, or is not there to
// be: never 0.

#include <cstdint>
#include <optional>
#include <string>

namespace feedrate::tools {

struct Telemetry {
  std::optional<double> cpu_seconds;   // of this process: user + system, all threads
  std::optional<double> peak_rss_mib;  // largest resident memory, as seen ten times a second
  std::optional<double> read_mib;      // read from disks
  // Share of the time in which some task of the machine waited for it (pressure stall information).
  std::optional<double> psi_cpu_percent;
  std::optional<double> psi_io_percent;
  std::optional<double> psi_memory_percent;
  std::optional<double> cpu_energy_j;  // of the processor packages, other processes included

  std::optional<double> planned_memory_mib;  // what the session's plan takes of the device's memory
  std::optional<double> gpu_memory_mib;      // most that was in use on the device, by whomsoever
  std::optional<double> gpu_own_memory_mib;  // by this process
  std::optional<double> gpu_power_w;         // mean
  std::optional<double> gpu_energy_j;
  std::optional<double> gpu_utilisation_percent;  // mean: a kernel ran, efficient or not
  std::optional<double> gpu_clock_mhz;            // mean, of the multiprocessors
  std::optional<std::string> gpu_throttle;        // what held the clocks down, or "none"
  std::optional<std::uint64_t> upload_count;      // copies to the device
  std::optional<double> upload_mib;
  std::optional<double> upload_gb_per_s;  // 10⁹ bytes, while copying
  std::optional<double> upload_seconds;
  std::optional<std::uint64_t> download_count;  // and from it
  std::optional<double> download_mib;
  std::optional<double> download_gb_per_s;
  std::optional<double> download_seconds;
};

/// Calls `field(key, member)` for what every run has, in order.
template <class TelemetryType, class Field>
void for_each_host_field(TelemetryType& telemetry, const Field& field) {
  field("cpu_seconds", telemetry.cpu_seconds);
  field("peak_rss_mib", telemetry.peak_rss_mib);
  field("read_mib", telemetry.read_mib);
  field("psi_cpu_percent", telemetry.psi_cpu_percent);
  field("psi_io_percent", telemetry.psi_io_percent);
  field("psi_memory_percent", telemetry.psi_memory_percent);
  field("cpu_energy_j", telemetry.cpu_energy_j);
}

/// And for what only a run on a device has.
template <class TelemetryType, class Field>
void for_each_device_field(TelemetryType& telemetry, const Field& field) {
  field("planned_memory_mib", telemetry.planned_memory_mib);
  field("gpu_memory_mib", telemetry.gpu_memory_mib);
  field("gpu_own_memory_mib", telemetry.gpu_own_memory_mib);
  field("gpu_power_w", telemetry.gpu_power_w);
  field("gpu_energy_j", telemetry.gpu_energy_j);
  field("gpu_utilisation_percent", telemetry.gpu_utilisation_percent);
  field("gpu_clock_mhz", telemetry.gpu_clock_mhz);
  field("gpu_throttle", telemetry.gpu_throttle);
  field("upload_count", telemetry.upload_count);
  field("upload_mib", telemetry.upload_mib);
  field("upload_gb_per_s", telemetry.upload_gb_per_s);
  field("upload_seconds", telemetry.upload_seconds);
  field("download_count", telemetry.download_count);
  field("download_mib", telemetry.download_mib);
  field("download_gb_per_s", telemetry.download_gb_per_s);
  field("download_seconds", telemetry.download_seconds);
}

/// For all of them: the one list of telemetry's keys, as rows and `--json` have them.
template <class TelemetryType, class Field>
void for_each_telemetry_field(TelemetryType& telemetry, const Field& field) {
  for_each_host_field(telemetry, field);
  for_each_device_field(telemetry, field);
}

}  // namespace feedrate::tools
