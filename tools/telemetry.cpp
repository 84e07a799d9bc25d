#include "tools/telemetry.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace feedrate {
namespace {

namespace fs = std::filesystem;

constexpr const char* powercap = "/sys/class/powercap";

std::optional<std::uint64_t> read_counter(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t value = 0;
  if (stream >> value) return value;
  return std::nullopt;
}

/// Directories of whole packages ("intel-rapl:0", also on AMD): not of the parts within them
/// ("intel-rapl:0:1"), not of the whole board, which holds the packages once more ("psys"), and not
/// the second way to the same counters ("intel-rapl-mmio:0").
std::vector<fs::path> packages() {
  std::vector<fs::path> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(powercap, absent)) {
    const std::string directory = entry.path().filename().string();
    std::ifstream stream(entry.path() / "name");
    std::string name;
    stream >> name;
    if (directory.starts_with("intel-rapl:") && name.starts_with("package-")) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Empty when any package refuses: a sum over some of them would be wrong.
std::vector<std::uint64_t> read_packages() {
  std::vector<std::uint64_t> energy;
  for (const fs::path& package : packages()) {
    const auto value = read_counter(package / "energy_uj");
    if (!value) return {};
    energy.push_back(*value);
  }
  return energy;
}

}  // namespace

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void CpuMeter::start() {
  if (!start_) start_ = process_cpu_seconds();
}

void CpuMeter::stop() {
  if (start_) seconds_ += process_cpu_seconds() - *start_;
  start_.reset();
}

EnergyMeter::EnergyMeter() : start_(read_packages()) {}

std::optional<double> EnergyMeter::joules() const {
  const std::vector<std::uint64_t> end = read_packages();
  if (start_.empty() || end.size() != start_.size()) return std::nullopt;
  const std::vector<fs::path> directories = packages();
  double joules = 0;
  for (std::size_t i = 0; i < end.size(); ++i) {
    std::uint64_t used = end[i] - start_[i];
    if (end[i] < start_[i]) {  // the counter went round
      const auto range = read_counter(directories[i] / "max_energy_range_uj");
      if (!range) return std::nullopt;
      used = *range - start_[i] + end[i];
    }
    joules += static_cast<double>(used) * 1e-6;
  }
  return joules;
}

}  // namespace feedrate
