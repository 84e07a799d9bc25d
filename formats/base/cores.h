#pragma once
// How many threads are worth starting on this machine.

#include <filesystem>
#include <optional>

namespace feedrate::formats {

/// Processors that this process may keep busy, at least 1: those of its affinity mask (cpusets
/// included), and not more than its control groups' quota, rounded up: threads that share the last
/// part of a core are held back now and then, and still do more than one thread fewer. Any thread.
unsigned usable_cores();

/// The least quota of processor time, in cores, of this process's control groups and all groups
/// above them, of version 2 (cpu.max) or 1 (cpu.cfs_quota_us); nothing where none is set. Files are
/// looked for below `root`: /proc/self/cgroup, /proc/self/mountinfo and where that says. Never
/// throws: what cannot be read limits nothing.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");

}  // namespace feedrate::formats
