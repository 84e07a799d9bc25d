#pragma once
// How long each layer of a network takes, compared with the least time it could take on the device.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/jobs/devices.h"

namespace feedrate::tools {

struct LayerTimesRequest {
  std::string network;
  trainer::DeviceSettings device{};
  std::uint32_t batch = 0;  // 0: as the network was published
  double seconds = 3;       // of steps, but at least three of them
  std::uint64_t seed = 1;
};

struct LayerTime {
  std::string name;
  std::string op;
  trainer::Extent extent;  // of its output
  // Seconds of a step, the median of all steps. Absent where another layer does its work, or where
  // the device runs a step as a whole.
  std::optional<double> forward;
  std::optional<double> backward;
  trainer::NodeWork work;

  double seconds() const { return forward.value_or(0) + backward.value_or(0); }
  /// Of its products, forward and backward; absent for a layer that has none.
  std::optional<double> flops_per_second() const;
  /// The least time that its work could take, as a share of the time it took. Above 1 when values
  /// came from a cache.
  std::optional<double> of_roofline(const std::optional<trainer::Roof>& roof) const;
};

/// All layers of one operator, added up.
struct OperatorTime {
  std::string op;
  std::size_t layers = 0;
  double forward = 0;  // seconds
  double backward = 0;
  double flops = 0;  // of their products, both ways

  double seconds() const { return forward + backward; }
  /// Nothing for an operator that has no products, or whose layers others do.
  std::optional<double> flops_per_second() const;
};

struct LayerTimes {
  LayerTimesRequest request;  // with the batch size used
  std::string device_name;
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint64_t steps = 0;
  double step_seconds = 0;            // the median
  std::optional<trainer::Roof> roof;  // absent when unknown
  std::vector<LayerTime> layers;

  /// Seconds of a step outside its layers, mostly the update.
  double rest() const;
  double images_per_second() const { return request.batch / step_seconds; }
  /// The costliest first.
  std::vector<OperatorTime> by_operator() const;
  /// By operator, and the costliest layers.
  std::string text() const;
  /// Every layer, in the order of the network.
  std::string text_of_all() const;
  std::string json() const;
};

/// Trains on one batch of random pixels of the network's published shape. Throws Error for an
/// unknown name, or when the device cannot be used.
LayerTimes time_layers(LayerTimesRequest request);

}  // namespace feedrate::tools
