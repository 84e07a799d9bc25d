#pragma once
// What the commands that compute ask of devices.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tools/telemetry.h"
#include "trainer/backend.h"

namespace feedrate {

class Nvml;

/// The device of that name; throws Error with the reason when it cannot be used here.
const Backend& usable_backend(const std::string& name);

/// Beyond the cores, more threads only take turns: allowed, but said. `compute_threads` are those
/// of the device "cpu".
void note_oversubscription(const std::string& device, unsigned loader_threads,
                           unsigned compute_threads);

/// What a GPU spends between construction and stop(). Nothing is known of other devices.
class GpuMeter {
 public:
  explicit GpuMeter(const std::string& device);
  ~GpuMeter();
  void stop(Telemetry& telemetry) const;

 private:
  std::unique_ptr<Nvml> nvml_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<double> energy_;
};

}  // namespace feedrate
