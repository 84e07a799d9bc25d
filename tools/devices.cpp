#include "tools/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/cores.h"
#include "formats/error.h"
#include "tools/console.h"
#include "tools/nvml.h"
#include "tools/text.h"
#include "trainer/backends/cuda.h"

namespace feedrate {

const Backend& usable_backend(const std::string& name) {
  const Backend& device = backend(name);
  const std::string why_not = device.unavailable();
  if (!why_not.empty()) throw Error(join("device ", name, ": ", why_not));
  return device;
}

void note_oversubscription(const std::string& device, unsigned loader_threads,
                           unsigned compute_threads) {
  const unsigned cores = usable_cores();
  const unsigned most = std::max(loader_threads, device == "cpu" ? compute_threads : 0);
  if (most <= cores) return;
  note(fmt::format("{} on {}", counted(most, "thread"), counted(cores, "core")));
}

GpuMeter::GpuMeter(const std::string& device) {
  if (device == "cuda") nvml_ = std::make_unique<Nvml>(cuda_pci_bus_id());
  if (nvml_) energy_ = nvml_->energy_j();
}

GpuMeter::~GpuMeter() = default;

void GpuMeter::stop(Telemetry& telemetry) const {
  if (!nvml_) return;
  telemetry.gpu_memory_mib = nvml_->own_memory_mib();
  if (!telemetry.gpu_memory_mib) telemetry.gpu_memory_mib = nvml_->memory_used_mib();
  telemetry.gpu_power_w = nvml_->power_w();
  const std::optional<double> energy = nvml_->energy_j();
  if (!energy || !energy_) return;
  telemetry.gpu_energy_j = *energy - *energy_;
  // The power reading is the mean of the last second; over a longer run energy knows better.
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (seconds >= 2) telemetry.gpu_power_w = *telemetry.gpu_energy_j / seconds;
}

}  // namespace feedrate
