#pragma once
// Pythons that a command starts without the probe: something on the way took it out of PYTHONPATH, or they
// do not read that. One thread.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace feedrate::tools {

/// -I or -E, alone or among other short options, which keep Python from reading PYTHONPATH; "": neither.
std::string keeps_probe_out(const std::vector<std::string>& command);

class KeptOut {
 public:
  /// Looks through the processes below this one, but not again at once. `told`: those that have the probe.
  void look(const std::filesystem::path& probe, const std::set<std::uint64_t>& told);

  /// A sentence about one of them; "": all that were seen have the probe.
  const std::string& why() const { return why_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point started_ = Clock::now(), next_ = started_;
  std::string why_;
};

}  // namespace feedrate::tools
