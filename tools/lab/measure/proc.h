#pragma once
// What Linux reports about this process and the machine, and parsers of its text files. A value
// that is missing or malformed is absent.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// From /proc/pressure/*, "some avg10=0.00 … total=12711072": microseconds since boot during which
/// some task waited.
std::optional<std::uint64_t> pressure_total(std::string_view text);
/// From /proc/self/io, "read_bytes: 4096": bytes read from disks for this process.
std::optional<std::uint64_t> io_read_bytes(std::string_view text);
/// From /proc/self/statm, the second number: resident pages of this process.
std::optional<std::uint64_t> resident_pages(std::string_view text);

/// Of a thread so far, in nanoseconds.
struct CoreTime {
  double ran = 0;
  double waited = 0;  // for a core, while it could run
};
/// From /proc/self/task/N/schedstat, "run wait slices".
std::optional<CoreTime> core_time(std::string_view text);
/// The same of all threads below /proc/self/task that have not ended; nothing where none can be read.
std::optional<CoreTime> core_time_of_threads(const std::filesystem::path& tasks);

/// Of all cores of the machine since boot, in ticks.
struct MachineTime {
  double all = 0;
  double stolen = 0;  // given to other machines by the host
};
/// From /proc/stat, "cpu  user nice system idle iowait irq softirq steal …".
std::optional<MachineTime> machine_time(std::string_view text);

/// Processor time of this process so far: user + system, all threads.
double process_cpu_seconds();

/// The content of a small file; nothing when it cannot be read.
std::optional<std::string> text_of(const std::filesystem::path& file);

}  // namespace feedrate::tools
