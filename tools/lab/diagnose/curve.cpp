#include "tools/lab/diagnose/curve.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace feedrate::tools {

namespace {

constexpr double as_good = 0.97;  // of the best: not worth another worker

}  // namespace

double Costs::rate(std::uint64_t workers) const {
  if (cpu + blocked <= 0) return 0;
  if (workers == 0) return samples / (cpu + blocked);
  const double of_workers = static_cast<double>(workers) / (cpu + blocked + put);
  const double of_cores = cores / (cpu + put + receive);
  const double of_loop = receive > 0 ? 1 / receive : of_cores;
  return samples * std::min({of_workers, of_cores, of_loop});
}

double Costs::delivered(std::uint64_t workers) const {
  const double supply = rate(workers);
  if (supply <= 0 || samples <= 0) return 0;
  const double made = samples / supply;
  if (workers == 0) return samples / (made + step);
  const double busy = (cpu + put + receive + step_cpu) / cores;
  return samples / std::max({made, busy, step + receive});
}

Costs costs_of(const Service& service, double receive, double cores) {
  return {.samples = service.samples,
          .cpu = service.cpu,
          .blocked = service.blocked,
          .put = service.put,
          .receive = receive,
          .cores = cores};
}

std::vector<CurvePoint> curve_of(const Costs& costs, const std::vector<Swept>& swept) {
  std::set<std::uint64_t> numbers{0, 1};
  const auto cores = static_cast<std::uint64_t>(std::max(1.0, std::ceil(costs.cores)));
  for (std::uint64_t workers = 2; workers <= cores; workers *= 2) numbers.insert(workers);
  numbers.insert(cores);
  for (const Swept& one : swept) numbers.insert(one.workers);
  std::vector<CurvePoint> curve;
  for (const std::uint64_t workers : numbers) {
    CurvePoint point{workers, costs.rate(workers), std::nullopt};
    for (const Swept& one : swept) {
      if (one.workers == workers && one.time > 0) {
        point.measured = static_cast<double>(one.batches) * costs.samples / one.time;
      }
    }
    curve.push_back(point);
  }
  return curve;
}

double best_known(const CurvePoint& point) { return point.measured.value_or(point.predicted); }

std::uint64_t enough_workers(const Costs& costs, std::uint64_t most) {
  double best = 0;
  for (std::uint64_t workers = 0; workers <= most; ++workers) {
    best = std::max(best, costs.delivered(workers));
  }
  for (std::uint64_t workers = 0; workers < most; ++workers) {
    if (costs.delivered(workers) >= as_good * best) return workers;
  }
  return most;
}

}  // namespace feedrate::tools
