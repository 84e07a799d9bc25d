#include "tools/report/study/point.h"

#include <algorithm>
#include <cmath>

#include "formats/base/statistics.h"

namespace feedrate::tools {
using namespace formats;

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

/// Images of the window that telemetry covers: its processor time over that of an image.
std::optional<double> images_of(const Run& run) {
  const std::optional<double> seconds = run.telemetry.cpu_seconds;
  if (!seconds || !run.cpu_us || *run.cpu_us <= 0 || *seconds <= 0) return std::nullopt;
  return *seconds * 1e6 / *run.cpu_us;
}

/// Of what telemetry counted over its window, the share of an image.
std::optional<double> for_an_image(const Run& run, std::optional<double> Telemetry::*member) {
  const std::optional<double> images = images_of(run), counted = run.telemetry.*member;
  if (!images || !counted) return std::nullopt;
  return *counted / *images;
}

/// By the device's counter, or its mean power over the rate.
std::optional<double> gpu_joules_of(const Run& run) {
  if (const auto counted = for_an_image(run, &Telemetry::gpu_energy_j)) return counted;
  if (!run.telemetry.gpu_power_w || run.images_per_second <= 0) return std::nullopt;
  return *run.telemetry.gpu_power_w / run.images_per_second;
}

std::optional<double> upload_us_of(const Run& run) {
  const auto seconds = for_an_image(run, &Telemetry::upload_seconds);
  return seconds ? std::optional(*seconds * 1e6) : std::nullopt;
}

}  // namespace

std::optional<double> Point::prediction_error() const {
  if (!predicted || rate <= 0) return std::nullopt;
  return 100 * std::abs(*predicted - rate) / rate;
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
  point.gpu_own_memory_mib = measured(&Telemetry::gpu_own_memory_mib);
  point.planned_memory_mib = measured(&Telemetry::planned_memory_mib);
  point.gpu_power_w = measured(&Telemetry::gpu_power_w);
  point.gpu_joules = median_of(runs, gpu_joules_of);
  point.cpu_joules =
      median_of(runs, [](const Run& run) { return for_an_image(run, &Telemetry::cpu_energy_j); });
  point.upload_us = median_of(runs, upload_us_of);
  point.upload_gb_per_s = measured(&Telemetry::upload_gb_per_s);
  return point;
}

const Point* at_threads(const std::vector<Point>& points, unsigned threads) {
  for (const Point& point : points) {
    if (point.threads == threads) return &point;
  }
  return nullptr;
}

}  // namespace feedrate::tools
