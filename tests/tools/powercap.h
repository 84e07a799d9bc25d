#pragma once
// A directory as the kernel shows its energy counters, for machines without any.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/temp_directory.h"

namespace feedrate::testing {

/// What FEEDRATE_POWERCAP names for as long as it lives.
class FakePowercap {
 public:
  FakePowercap() { setenv("FEEDRATE_POWERCAP", directory_.path().c_str(), 1); }
  ~FakePowercap() { unsetenv("FEEDRATE_POWERCAP"); }

  /// Adds a counter, or turns it to `microjoules`. It goes round behind `most`.
  void counter(const std::string& directory, const std::string& name, std::uint64_t microjoules,
               std::uint64_t most = 262'143'328'850) const {
    std::filesystem::create_directory(directory_ / directory);
    write(directory, "name", name);
    write(directory, "energy_uj", std::to_string(microjoules));
    write(directory, "max_energy_range_uj", std::to_string(most));
  }
  void write(const std::string& directory, const std::string& file, const std::string& text) const {
    std::ofstream(directory_ / directory / file) << text << '\n';
  }
  void forget(const std::string& directory, const std::string& file) const {
    std::filesystem::remove(directory_ / directory / file);
  }

 private:
  TempDirectory directory_;
};

}  // namespace feedrate::testing
