#pragma once
// What NVIDIA's management library knows of a GPU. It is opened when asked for, so that nothing
// here needs it; what it cannot tell is absent, never 0. One thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace feedrate::tools {

class Nvml {
 public:
  /// The GPU of that PCI bus id (cuda_pci_bus_id()), the first for "". Never throws: ask
  /// available(). FEEDRATE_NVML names another library than libnvidia-ml.so.1.
  explicit Nvml(const std::string& pci_bus_id = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return problem_.empty(); }
  /// Why it is not available, "" when it is.
  const std::string& problem() const { return problem_; }

  std::optional<std::string> name() const;
  std::optional<std::string> driver_version() const;
  /// In use on the device, other processes included.
  std::optional<double> memory_used_mib() const;
  /// By this process; absent in a container that hides the process numbers.
  std::optional<double> own_memory_mib() const;
  /// Mean of about the last second on Ampere and later.
  std::optional<double> power_w() const;
  /// Since the driver was loaded; measure by differences over 2 seconds or more.
  std::optional<double> energy_j() const;
  /// Share of the last sampling period in which a kernel ran: busy, not efficient.
  std::optional<double> utilisation_percent() const;
  /// Of the multiprocessors, now.
  std::optional<double> clock_mhz() const;
  /// Why clocks are lower than they could be, now: bits, for throttle_text().
  std::optional<std::uint64_t> throttle_reasons() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string problem_;
};

/// "software power cap, hardware thermal slowdown"; "none" where clocks are low only because nobody
/// asks for more, or are as the user has set them.
std::string throttle_text(std::uint64_t reasons);

}  // namespace feedrate::tools
