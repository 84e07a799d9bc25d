#include "tools/bench/measure.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/error.h"
#include "tools/bench/process.h"
#include "tools/text.h"

namespace feedrate {
namespace {

struct Repeat {
  double rate = 0;
  std::optional<double> stall_percent;
  std::optional<unsigned> workers_seen;
  Telemetry telemetry;
};

template <class T>
std::optional<T> take(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

Repeat measure_once(const BenchPoint& point, const BenchOptions& options) {
  const Finished finished = run_self(point.command(options));
  const auto object = nlohmann::json::parse(finished.output);
  Repeat repeat;
  repeat.rate = rounded(object.at("images_per_second").get<double>(), 1);
  if (point.row.kind == delivered_kind)
    repeat.stall_percent = take<double>(object, "stall_percent");
  if (point.row.kind != demand_kind) repeat.workers_seen = take<unsigned>(object, "workers_seen");
  repeat.telemetry = {.cpu_seconds = rounded(finished.cpu_seconds, 3),
                      .peak_rss_mib = rounded(finished.peak_rss_mib, 1),
                      .cpu_energy_j = finished.cpu_energy_j,
                      .gpu_memory_mib = take<double>(object, "gpu_memory_mib"),
                      .gpu_power_w = take<double>(object, "gpu_power_w"),
                      .gpu_energy_j = take<double>(object, "gpu_energy_j")};
  return repeat;
}

}  // namespace

Run measure(const BenchPoint& point, const BenchOptions& options) {
  Run run = point.row;
  std::vector<Repeat> repeats;
  for (unsigned i = 0; i < options.repeat; ++i) {
    repeats.push_back(measure_once(point, options));
    run.repeats.push_back(repeats.back().rate);
  }
  run.images_per_second = median(run.repeats);
  const auto distance = [&](const Repeat& one) {
    return std::abs(one.rate - run.images_per_second);
  };
  const Repeat& middle = *std::min_element(
      repeats.begin(), repeats.end(),
      [&](const Repeat& a, const Repeat& b) { return distance(a) < distance(b); });
  run.stall_percent = middle.stall_percent;
  run.workers_seen = middle.workers_seen;
  run.telemetry = middle.telemetry;
  return run;
}

}  // namespace feedrate
