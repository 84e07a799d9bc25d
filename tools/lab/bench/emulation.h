#pragma once
// Trainers that a bench emulates: devices that are not here, or a rate.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/advise/published_rate.h"

namespace feedrate::tools {

struct BenchOptions;

/// Cores that our trainer's threads keep busy while they drive one GPU: 26.8 µs of an image at 5,910
/// images/s, from ResNet-50 in bf16 on an H100 (samples/results/resnet50-h100.jsonl). Batches are
/// copied to the device meanwhile.
inline constexpr double host_cores_of_a_device = 0.158;
/// That all emulated devices of a run keep busy, at most.
inline constexpr double max_host_cores = 64;

/// A device's pace, and what it takes of its host.
struct Emulation {
  std::string device;     // as rows name it: "emulated h100x8"
  std::string precision;  // as published; "" where the source does not say
  std::string origin;     // "5,910 images/s: …": the rate and who says so
  double images_per_second = 0;
  double host_cores = 0;  // that it keeps busy while it computes
  std::string age{};      // a warning where the source is old; else ""
};

/// `text`: "h100x8" or a rate in images/s. Throws Error with the nearest names for an unknown device,
/// and where no rate of it is known. Each device keeps `host_cores` busy.
Emulation emulation_of(std::string_view text, const std::string& network,
                       std::span<const PublishedRate> rates,
                       double host_cores = host_cores_of_a_device);

/// What rows call a trainer of which only the rate was given.
inline constexpr std::string_view any_trainer = "trainer";
/// The networks of a bench; any_trainer where rates are emulated and no network was named.
std::vector<std::string> fed_networks(const BenchOptions& options);

/// Throws Misused where a trainer to be emulated is unknown, or has no network.
void check_emulations(const BenchOptions& options);

}  // namespace feedrate::tools
