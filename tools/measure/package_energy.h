#pragma once
// What the processor packages use, other processes included, by the kernel's powercap counters.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace feedrate::tools {

/// Sums up from construction on. The counters go round after minutes of hard work: joules() has to
/// be called more often than that. One thread.
class PackageEnergy {
 public:
  /// FEEDRATE_POWERCAP names another directory than /sys/class/powercap.
  PackageEnergy();
  /// Nothing when there are no counters, or when one could not be read even once.
  std::optional<double> joules();

 private:
  struct Package {
    std::filesystem::path directory;
    std::uint64_t last = 0;  // microjoules
  };
  std::vector<Package> packages_;  // empty: nothing is known, now or later
  std::uint64_t used_ = 0;         // microjoules
};

}  // namespace feedrate::tools
