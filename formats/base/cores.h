#pragma once
// How many threads this machine can keep busy.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace feedrate::formats {

/// More threads than this are a typo, and would only exhaust memory: far above the cores of any
/// machine.
inline constexpr std::uint64_t max_threads = 1024;

/// Number of processors that this process may keep busy, at least 1: those in its affinity mask
/// (cpusets included), but no more than its control groups' quota, rounded up. Rounding up is right
/// because threads that share a fraction of a core are throttled now and then, but still do more
/// work than one thread fewer. Any thread.
unsigned usable_cores();

/// The smallest processor quota, in cores, of this process's control groups and their ancestors, in
/// version 2 (cpu.max) or 1 (cpu.cfs_quota_us); nothing where none is set. Reads /proc/self/cgroup,
/// /proc/self/mountinfo and the files that they point to, all below `root`. Never throws: what
/// cannot be read limits nothing.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");

}  // namespace feedrate::formats
