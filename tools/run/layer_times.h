#pragma once
// How long each layer of a network takes, beside what the device could do it in at best.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/run/devices.h"

namespace feedrate::tools {

struct LayerTimesRequest {
  std::string network;
  DeviceOptions device{};
  std::uint32_t batch = 0;  // 0: as the network was published
  double seconds = 3;       // of steps, but at least three of them
  std::uint64_t seed = 1;
};

struct LayerTime {
  std::string name;
  std::string op;
  trainer::Extent extent;  // of what it puts out
  // Seconds of a step, the median of all; absent where another layer does its work, or where a
  // device runs a step as one piece.
  std::optional<double> forward;
  std::optional<double> backward;
  trainer::NodeWork work;

  double seconds() const { return forward.value_or(0) + backward.value_or(0); }
  /// Of its products, both ways; nothing for a layer that has none.
  std::optional<double> flops_per_second() const;
  /// The least time for what it does, as a share of what it took. Above 1 where values lay in a
  /// cache.
  std::optional<double> of_roofline(const std::optional<trainer::Roof>& roof) const;
};

struct LayerTimes {
  LayerTimesRequest request;  // with the batch that was taken
  std::string device_name;
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint64_t steps = 0;
  double step_seconds = 0;            // the median
  std::optional<trainer::Roof> roof;  // absent where the device's is not known
  std::vector<LayerTime> layers;

  /// What a step spends outside its layers: the update, most of it.
  double rest() const;
  double images_per_second() const { return request.batch / step_seconds; }
  std::string text() const;
  std::string json() const;
};

/// Trains on one batch of random pixels of the network's published shape. Throws Error when a name
/// or the device does not fit.
LayerTimes time_layers(LayerTimesRequest request);

}  // namespace feedrate::tools
