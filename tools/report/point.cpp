#include "tools/report/point.h"

#include <algorithm>
#include <cmath>

namespace feedrate {
namespace {

template <class Get>
std::optional<double> median_of(const std::vector<const Run*>& runs, const Get& get) {
  std::vector<double> values;
  for (const Run* run : runs) {
    if (const std::optional<double> value = get(*run)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

}  // namespace

std::optional<double> Point::prediction_error() const {
  if (!predicted || rate <= 0) return std::nullopt;
  return 100 * std::abs(*predicted - rate) / rate;
}

std::optional<double> Point::gpu_joules() const {
  if (!gpu_power_w || rate <= 0) return std::nullopt;
  return *gpu_power_w / rate;
}

Point pool(const std::vector<const Run*>& runs) {
  const auto of = [&](auto Run::*member) {
    return median_of(runs, [&](const Run& run) { return run.*member; });
  };
  const auto measured = [&](auto Telemetry::*member) {
    return median_of(runs, [&](const Run& run) { return run.telemetry.*member; });
  };
  Point point;
  point.threads = runs.front()->threads.value_or(0);
  for (const Run* run : runs) {
    point.repeats.insert(point.repeats.end(), run->repeats.begin(), run->repeats.end());
    point.workers_seen = run->workers_seen;
  }
  point.rate = median(point.repeats);
  point.low = *std::min_element(point.repeats.begin(), point.repeats.end());
  point.high = *std::max_element(point.repeats.begin(), point.repeats.end());
  point.stall = of(&Run::stall_percent);
  point.predicted = of(&Run::predicted);
  point.wait_ms = of(&Run::wait_ms);
  point.read_us = of(&Run::read_us);
  point.decode_us = of(&Run::decode_us);
  point.augment_us = of(&Run::augment_us);
  point.cpu_us = of(&Run::cpu_us);
  point.peak_rss_mib = measured(&Telemetry::peak_rss_mib);
  point.gpu_memory_mib = measured(&Telemetry::gpu_memory_mib);
  point.gpu_power_w = measured(&Telemetry::gpu_power_w);
  return point;
}

const Point* at_threads(const std::vector<Point>& points, unsigned threads) {
  for (const Point& point : points) {
    if (point.threads == threads) return &point;
  }
  return nullptr;
}

}  // namespace feedrate
