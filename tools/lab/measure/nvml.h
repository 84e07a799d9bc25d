#pragma once
// Reads a GPU's state from NVIDIA's management library (NVML), which is loaded at run time, so that
// the program starts without it. Unknown values are absent, never 0. Not thread-safe.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace feedrate::tools {

class Nvml {
 public:
  /// Opens the GPU with this PCI bus id (Backend::pci_bus_id()), or the first one for "". Does not
  /// throw when there is none: see available(). $FEEDRATE_NVML replaces libnvidia-ml.so.1.
  explicit Nvml(const std::string& pci_bus_id = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return problem_.empty(); }
  /// Why it is not available; "" when it is.
  const std::string& problem() const { return problem_; }

  std::optional<std::string> name() const;
  std::optional<std::string> driver_version() const;
  /// Memory in use on the device, by all processes.
  std::optional<double> memory_used_mib() const;
  /// Memory used by this process; absent in a container that hides process ids.
  std::optional<double> own_memory_mib() const;
  /// Power; the mean of about the last second on Ampere and later.
  std::optional<double> power_w() const;
  /// Energy since the driver was loaded; take differences over 2 seconds or more.
  std::optional<double> energy_j() const;
  /// Share of the last sampling period in which a kernel ran: busy, not efficient.
  std::optional<double> utilisation_percent() const;
  /// Current clock of the multiprocessors.
  std::optional<double> clock_mhz() const;
  /// Why the clocks are currently held down: bits for throttle_text().
  std::optional<std::uint64_t> throttle_reasons() const;

 private:
  struct Library;
  /// What NVML's `function` says of the GPU.
  template <class Value, class Function, class... Arguments>
  std::optional<Value> ask(Function Library::*function, Arguments... arguments) const;

  std::unique_ptr<Library> library_;
  std::string problem_;
};

/// "software power cap, hardware thermal slowdown"; "none" where the clocks are low only because
/// the GPU is idle or the user set them.
std::string throttle_text(std::uint64_t reasons);

}  // namespace feedrate::tools
