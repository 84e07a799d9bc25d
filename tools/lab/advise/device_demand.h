#pragma once
// The images/s that a device which is not here takes, from published rates: for `advise --for` and
// `bench --emulate`. Pure functions.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/lab/advise/published_rate.h"

namespace feedrate::tools {

/// So many devices of a kind that train together: "h100x8".
struct Devices {
  std::string name;
  unsigned count = 1;
};
/// Throws Error with the nearest names for a device of which `rates` has none, and for a bad number.
Devices parse_devices(std::string_view text, std::span<const PublishedRate> rates);

/// Of a rate that nobody published.
struct Estimate {
  PublishedRate like;  // the published rate of the most similar network, on this device or another
  double doubt = 1;    // the rate may be so many times as large, or so many times smaller
};

/// What these devices take while they train a network.
struct DeviceDemand {
  PublishedRate from;  // of the device, that it follows from
  Devices devices;
  double images_per_second = 0;  // of all together
  /// Where nobody published this network on this device.
  std::optional<Estimate> estimate{};
  /// From one device, for as many: they may disturb each other.
  bool scaled = false;
};

/// The fastest rate that was published for so many devices; else that of one device, times their number; else
/// an estimate. The estimate follows the published rate of the network with the nearest number of
/// multiply-adds, in proportion to these numbers. Where another device trained that network, the estimate is
/// also in proportion to the rates of a network that both devices trained. It may be wrong by five times the
/// ratio of the multiply-adds: a test hides each published rate and finds it within that.
/// Throws Error where no rate of one such device is known.
DeviceDemand demand_of(const Devices& devices, std::string_view network,
                       std::span<const PublishedRate> rates);

/// How an estimate was made: "from the 5,910 of resnet50 (Feedrate's …), and as vgg16 is to it on P100
/// (TensorFlow's …)".
std::string estimate_text(const DeviceDemand& demand, std::string_view network);

}  // namespace feedrate::tools
