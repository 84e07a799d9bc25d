#include "tools/lab/measure/package_energy.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/base/text.h"
#include "tools/lab/measure/proc.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> read_counter(const fs::path& file) {
  const std::optional<std::string> text = text_of(file);
  if (!text) return std::nullopt;
  return parse_number<std::uint64_t>(std::string_view(*text).substr(0, text->find('\n')));
}

/// Directories of whole packages ("intel-rapl:0", also on AMD). Left out, since they would count
/// the same energy twice: parts of a package ("intel-rapl:0:1"), the whole board ("psys") and the
/// same counters through MMIO ("intel-rapl-mmio:0").
std::vector<fs::path> package_directories() {
  const char* given = std::getenv("FEEDRATE_POWERCAP");
  std::vector<fs::path> found;
  std::error_code absent;
  for (const auto& entry :
       fs::directory_iterator(given != nullptr ? given : "/sys/class/powercap", absent)) {
    const std::string directory = entry.path().filename().string();
    const std::string name = text_of(entry.path() / "name").value_or("");
    if (directory.starts_with("intel-rapl:") && name.starts_with("package-")) {
      found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace

PackageEnergy::PackageEnergy() {
  for (const fs::path& directory : package_directories()) {
    const auto energy = read_counter(directory / "energy_uj");
    if (!energy) {  // the sum of the others would be wrong
      packages_.clear();
      return;
    }
    packages_.push_back({directory, *energy});
  }
}

std::optional<double> PackageEnergy::joules() {
  for (Package& package : packages_) {
    const auto now = read_counter(package.directory / "energy_uj");
    // A counter that overflows restarts from 0 after its greatest value.
    const auto range = now && *now < package.last
                           ? read_counter(package.directory / "max_energy_range_uj")
                           : std::optional<std::uint64_t>(0);
    if (!now || !range || (*now < package.last && *range < package.last)) {
      packages_.clear();
      break;
    }
    used_ += *now < package.last ? *range - package.last + *now : *now - package.last;
    package.last = *now;
  }
  if (packages_.empty()) return std::nullopt;
  return static_cast<double>(used_) * 1e-6;
}

}  // namespace feedrate::tools
