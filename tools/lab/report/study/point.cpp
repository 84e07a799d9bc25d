#include "tools/lab/report/study/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tools/lab/measure/contention.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// `get`: a member of Row or a function of a Row. Absent where no row has the value.
template <class Get>
std::optional<double> median_of(const std::vector<const Row*>& rows, const Get& get) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (const std::optional<double> value = std::invoke(get, *row)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

/// Joules of one image, from joules counted over the telemetry's window. Dividing the window's
/// processor time by that of an image gives the number of images in it.
std::optional<double> joules_per_image(const Row& row, std::optional<double> joules) {
  const std::optional<double> seconds = row.telemetry.cpu_seconds;
  if (!joules || !seconds || !row.cpu_us || *row.cpu_us <= 0 || *seconds <= 0) return std::nullopt;
  return *joules * *row.cpu_us / (*seconds * 1e6);
}

/// From the device's energy counter, else its mean power divided by the rate.
std::optional<double> gpu_joules_per_image(const Row& row) {
  if (const auto counted = joules_per_image(row, row.telemetry.gpu_energy_j)) return counted;
  if (!row.telemetry.gpu_power_w || row.images_per_second <= 0) return std::nullopt;
  return *row.telemetry.gpu_power_w / row.images_per_second;
}

}  // namespace

std::optional<double> Point::prediction_error() const {
  if (!predicted || rate <= 0) return std::nullopt;
  return 100 * std::abs(*predicted - rate) / rate;
}

Point pool(const std::vector<const Row*>& rows) {
  const auto telemetry = [&](auto Telemetry::*member) {
    return median_of(rows, [&](const Row& row) { return row.telemetry.*member; });
  };
  const Row& first = *rows.front();
  Point point;
  point.threads = first.threads.value_or(0);
  point.cores = first.environment.cores;
  point.computing = first.compute_threads.value_or(first.device == "cpu" ? point.cores : 1);
  point.workers_seen = rows.back()->workers_seen;
  for (const Row* row : rows) {
    point.repeats.insert(point.repeats.end(), row->repeats.begin(), row->repeats.end());
    point.benches.insert(point.benches.end(), row->repeats.size(), row->environment.command);
    if (row->cause) point.cause = row->cause;
  }
  point.rate = median(point.repeats);
  point.low = std::ranges::min(point.repeats);
  point.high = std::ranges::max(point.repeats);
  point.stall = median_of(rows, &Row::stall_percent);
  point.predicted = median_of(rows, &Row::predicted);
  point.read_us = median_of(rows, &Row::read_us);
  point.decode_us = median_of(rows, &Row::decode_us);
  point.augment_us = median_of(rows, &Row::augment_us);
  point.cpu_us = median_of(rows, &Row::cpu_us);
  point.kernel_us = median_of(rows, &Row::kernel_us);
  point.ran = median_of(rows, [](const Row& row) { return ran_while_crowded(row); });
  point.peak_rss_mib = telemetry(&Telemetry::peak_rss_mib);
  point.planned_memory_mib = telemetry(&Telemetry::planned_memory_mib);
  point.gpu_own_memory_mib = telemetry(&Telemetry::gpu_own_memory_mib);
  point.gpu_memory_mib = telemetry(&Telemetry::gpu_memory_mib);
  point.gpu_power_w = telemetry(&Telemetry::gpu_power_w);
  point.gpu_joules = median_of(rows, gpu_joules_per_image);
  point.cpu_joules = median_of(
      rows, [](const Row& row) { return joules_per_image(row, row.telemetry.cpu_energy_j); });
  point.upload_gb_per_s = telemetry(&Telemetry::upload_gb_per_s);
  const auto remote = [&](auto ServerWork::*member, double scale) {
    return median_of(rows, [&](const Row& row) -> std::optional<double> {
      if (!row.remote || row.remote->requests == 0) return std::nullopt;
      const std::optional<double> value = row.remote.value().*member;
      return value ? std::optional(scale * *value) : std::nullopt;
    });
  };
  point.request_ms = remote(&ServerWork::median_seconds, 1e3);
  point.request_ms_p99 = remote(&ServerWork::p99_seconds, 1e3);
  point.request_cpu_us = remote(&ServerWork::cpu_seconds, 1e6);
  point.repeated = remote(&ServerWork::repeated, 1);
  point.connections = remote(&ServerWork::connections, 1);
  return point;
}

bool share_rounds(const Point& one, const Point& other) {
  return one.repeats.size() == other.repeats.size() && one.benches == other.benches;
}

const Point* at_threads(const std::vector<Point>& points, unsigned threads) {
  const auto found = std::ranges::find(points, threads, &Point::threads);
  return found == points.end() ? nullptr : &*found;
}

}  // namespace feedrate::tools
