#pragma once
// What a run cost while it was on the clock, without start-up and pauses: processor time, memory,
// waiting, energy, copies. A value that could not be measured is absent, never 0.

#include <cstdint>
#include <optional>
#include <string>

namespace feedrate::tools {

struct Telemetry {
  std::optional<double> cpu_seconds;   // user + system, all threads of this process
  std::optional<double> peak_rss_mib;  // largest resident memory, sampled ten times a second
  std::optional<double> read_mib;      // read from disks
  // Share of the time during which some task of the machine waited for the resource (pressure stall
  // information).
  std::optional<double> psi_cpu_percent;
  std::optional<double> psi_io_percent;
  std::optional<double> psi_memory_percent;
  std::optional<double> cpu_energy_j;  // of the processor packages, all processes

  std::optional<double> planned_memory_mib;  // of the device, by the session's plan
  std::optional<double> gpu_memory_mib;      // peak in use on the device, by all processes
  std::optional<double> gpu_own_memory_mib;  // peak, by this process
  std::optional<double> gpu_power_w;         // mean
  std::optional<double> gpu_energy_j;
  std::optional<double> gpu_utilisation_percent;  // mean share of time with a kernel running
  std::optional<double> gpu_clock_mhz;            // mean, of the multiprocessors
  std::optional<std::string> gpu_throttle;        // what held the clocks down; "none"
  std::optional<std::uint64_t> upload_count;      // copies to the device
  std::optional<double> upload_mib;
  std::optional<double> upload_gb_per_s;  // 10⁹ bytes per second of copying
  std::optional<double> upload_seconds;
  std::optional<std::uint64_t> download_count;  // copies from the device
  std::optional<double> download_mib;
  std::optional<double> download_gb_per_s;
  std::optional<double> download_seconds;
};

/// Calls `field(key, member)` for the fields of every run, in order.
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

/// The same for the fields of runs on a device.
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

/// The same for all fields: the only list of telemetry's keys, for rows and `--json` alike.
template <class TelemetryType, class Field>
void for_each_telemetry_field(TelemetryType& telemetry, const Field& field) {
  for_each_host_field(telemetry, field);
  for_each_device_field(telemetry, field);
}

}  // namespace feedrate::tools
