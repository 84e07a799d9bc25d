#pragma once
// What devices take that are not here: what `feedrate advise --for` feeds and `bench --emulate` acts
// out. Pure functions of published rates.

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

/// A rate that nobody published, from two others: this device trains `network`, of which it is known how
/// fast the device trains another one, as `like` is to that other one.
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

/// From the fastest that was published for as many devices, else for one of them, else an estimate: from
/// the rate of the network whose multiply-adds are the nearest, in proportion to them. If that was
/// published for another device, then as much faster as this one trains a network that both trained. It
/// may miss by five times the ratio of the multiply-adds: so is each published rate found where it is hidden.
/// Throws Error where no rate of one such device is known.
DeviceDemand demand_of(const Devices& devices, std::string_view network,
                       std::span<const PublishedRate> rates);

/// How an estimate was made: "from the 5,910 of resnet50 (Feedrate's …), and as vgg16 is to it on P100
/// (TensorFlow's …)".
std::string estimate_text(const DeviceDemand& demand, std::string_view network);

}  // namespace feedrate::tools
