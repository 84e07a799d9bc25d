#pragma once
// What Linux tells of this process and of the machine, and the texts in which it does. What it does
// not tell, or tells in another form, is absent.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// "some avg10=0.00 … total=12711072": microseconds since boot in which some task waited.
std::optional<std::uint64_t> pressure_total(std::string_view text);
/// "read_bytes: 4096" of /proc/self/io: what this process has had read from disks.
std::optional<std::uint64_t> io_read_bytes(std::string_view text);
/// The second number of /proc/self/statm: pages of this process in memory.
std::optional<std::uint64_t> resident_pages(std::string_view text);

/// Processor time of this process so far: user + system, all threads.
double process_cpu_seconds();

/// All of a small file, nothing when it cannot be read.
std::optional<std::string> text_of(const std::filesystem::path& file);

}  // namespace feedrate::tools
