#pragma once
// What a run cost while it was on the clock, without start-up and pauses: processor time, memory,
// waiting, energy, copies. A value that could not be measured is absent, never 0.

#include <cstdint>
#include <optional>
#include <string>

#include "tools/console/fields.h"

namespace feedrate::tools {

struct Telemetry {
  std::optional<double> cpu_seconds;
  std::optional<double> peak_rss_mib;
  std::optional<double> read_mib;
  std::optional<double> core_wait_percent;
  std::optional<double> steal_percent;
  std::optional<double> psi_cpu_percent;
  std::optional<double> psi_io_percent;
  std::optional<double> psi_memory_percent;
  std::optional<double> cpu_energy_j;

  std::optional<double> planned_memory_mib;
  std::optional<double> gpu_memory_mib;
  std::optional<double> gpu_own_memory_mib;
  std::optional<double> gpu_power_w;
  std::optional<double> gpu_energy_j;
  std::optional<double> gpu_utilisation_percent;
  std::optional<double> gpu_clock_mhz;
  std::optional<std::string> gpu_throttle;
  std::optional<std::uint64_t> upload_count;
  std::optional<double> upload_mib;
  std::optional<double> upload_gb_per_s;
  std::optional<double> upload_seconds;
  std::optional<std::uint64_t> download_count;
  std::optional<double> download_mib;
  std::optional<double> download_gb_per_s;
  std::optional<double> download_seconds;
};

/// What every run has, but for cpu_seconds.
template <class TelemetryType, class Field>
void for_each_host_field(TelemetryType& telemetry, const Field& field) {
  constexpr std::string_view no_pressure = "/proc/pressure cannot be read";
  field("peak_rss_mib", telemetry.peak_rss_mib,
        {"largest resident memory, sampled ten times a second", Unit{"MiB"},
         Null{"nothing was timed"}});
  field(
      "read_mib", telemetry.read_mib,
      {"read from disks", Unit{"MiB"}, Null{"/proc/self/io cannot be read, or nothing was timed"}});
  field("core_wait_percent", telemetry.core_wait_percent,
        {"of the time that this process's threads could run, they waited for a core", Unit{"%"},
         Null{"/proc/self/task/…/schedstat cannot be read"}, Absent{"a row of an earlier version"}});
  field("steal_percent", telemetry.steal_percent,
        {"of the machine's core time, its host gave to other machines", Unit{"%"},
         Null{"/proc/stat cannot be read"}, Absent{"a row of an earlier version"}});
  field("psi_cpu_percent", telemetry.psi_cpu_percent,
        {"share of the time that some task of the machine waited for a core", Unit{"%"},
         Null{no_pressure}});
  field("psi_io_percent", telemetry.psi_io_percent,
        {"share of the time that some task of the machine waited for a disk", Unit{"%"},
         Null{no_pressure}});
  field("psi_memory_percent", telemetry.psi_memory_percent,
        {"share of the time that some task of the machine waited for memory", Unit{"%"},
         Null{no_pressure}});
  field("cpu_energy_j", telemetry.cpu_energy_j,
        {"of the processor packages, other processes included", Unit{"J"},
         Null{"no readable powercap counters"}});
}

/// Only a run with a network has these. Values of the GPU come from NVML.
template <class TelemetryType, class Field>
void for_each_device_field(TelemetryType& telemetry, const Field& field) {
  constexpr std::string_view no_nvml = "on the CPU; NVML does not report it";
  constexpr std::string_view no_copies = "the device uses the host's memory";
  field("planned_memory_mib", telemetry.planned_memory_mib,
        {"what the session plans: parameters, gradients, optimizer state, activations, scratch",
         Unit{"MiB"}, Null{"no network"}});
  field("gpu_memory_mib", telemetry.gpu_memory_mib,
        {"peak memory in use on the GPU, by any process", Unit{"MiB"}, Null{no_nvml}});
  field("gpu_own_memory_mib", telemetry.gpu_own_memory_mib,
        {"peak memory that this process used", Unit{"MiB"},
         Null{"on the CPU; NVML does not report it; a container hides process ids"}});
  field("gpu_power_w", telemetry.gpu_power_w,
        {"mean; over 2 s or more, energy over time", Unit{"W"}, Null{no_nvml}});
  field("gpu_energy_j", telemetry.gpu_energy_j,
        {"from the GPU's counter", Unit{"J"}, Null{no_nvml}});
  field("gpu_utilisation_percent", telemetry.gpu_utilisation_percent,
        {"mean share of the time in which a kernel ran (busy, not necessarily efficient)",
         Unit{"%"}, Null{no_nvml}});
  field("gpu_clock_mhz", telemetry.gpu_clock_mhz,
        {"mean, of the multiprocessors", Unit{"MHz"}, Null{no_nvml}});
  field("gpu_throttle", telemetry.gpu_throttle,
        {"what limited the clocks, or `none`", Null{no_nvml}});
  field("upload_count", telemetry.upload_count, {"copies to the device", Null{no_copies}});
  field("upload_mib", telemetry.upload_mib, {"copied to the device", Unit{"MiB"}, Null{no_copies}});
  field("upload_gb_per_s", telemetry.upload_gb_per_s,
        {"to the device, while copying", Unit{"GB/s"},
         Null{"the device uses the host's memory; nothing was copied"}});
  field("upload_seconds", telemetry.upload_seconds,
        {"from the request of a copy to the device to its completion", Unit{"s"}, Null{no_copies}});
  field("download_count", telemetry.download_count, {"copies from the device", Null{no_copies}});
  field("download_mib", telemetry.download_mib,
        {"copied from the device", Unit{"MiB"}, Null{no_copies}});
  field("download_gb_per_s", telemetry.download_gb_per_s,
        {"from the device, while copying", Unit{"GB/s"},
         Null{"the device uses the host's memory; nothing was copied"}});
  field(
      "download_seconds", telemetry.download_seconds,
      {"from the request of a copy from the device to its completion", Unit{"s"}, Null{no_copies}});
}

template <class TelemetryType, class Field>
requires std::same_as<std::remove_const_t<TelemetryType>, Telemetry>
void for_each_field(TelemetryType& telemetry, const Field& field) {
  field("cpu_seconds", telemetry.cpu_seconds,
        {"processor time of this process while it was timed, user and system, all threads",
         Unit{"s"}, Null{"nothing was timed"}});
  for_each_host_field(telemetry, field);
  for_each_device_field(telemetry, field);
}

}  // namespace feedrate::tools
