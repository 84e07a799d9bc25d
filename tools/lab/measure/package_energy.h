#pragma once
// Energy used by the processor packages (by all processes), from the kernel's powercap counters.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace feedrate::tools {

/// Accumulates energy from construction on. The counters overflow after minutes of full load, so
/// call joules() more often than that. Not thread-safe.
class PackageEnergy {
 public:
  /// $FEEDRATE_POWERCAP replaces /sys/class/powercap.
  PackageEnergy();
  /// Energy since construction. Nothing when there are no counters, or once one could not be read.
  std::optional<double> joules();

 private:
  struct Package {
    std::filesystem::path directory;
    std::uint64_t last = 0;  // microjoules
  };
  std::vector<Package> packages_;  // empty: unknown, now and later
  std::uint64_t used_ = 0;         // microjoules
};

}  // namespace feedrate::tools
