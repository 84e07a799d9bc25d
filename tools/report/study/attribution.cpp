#include "tools/report/study/attribution.h"

#include <algorithm>

#include "tools/report/study/verdict.h"

namespace feedrate::tools {
namespace {

constexpr double microseconds = 1e6;

double time_of(const Point& point) { return microseconds / point.rate; }

/// Divides `waiting` as the loader's own times of an image divide.
void split(Attribution& parts, double waiting, const Point& point) {
  const double read = point.read_us.value_or(0), decode = point.decode_us.value_or(0),
               augment = point.augment_us.value_or(0);
  const double all = read + decode + augment;
  if (all <= 0) {
    parts.loading = waiting;
    return;
  }
  parts.read = waiting * read / all;
  parts.decode = waiting * decode / all;
  parts.augment = waiting * augment / all;
}

/// The curve of the same tool and format whose data lay in the page cache; null for a warm one.
const Curve* warm_twin(const Study& study, const Curve& cold) {
  const auto found = std::ranges::find_if(study.curves, [&](const Curve& curve) {
    return curve.cache == warm_cache && curve.tool == cold.tool && curve.kept == cold.kept;
  });
  return cold.cache != cold_cache || found == study.curves.end() ? nullptr : &*found;
}

}  // namespace

Attribution attribute(const Point& delivered, const Alone& alone) {
  const auto& [demand, computing, warm] = alone;
  Attribution parts;
  if (delivered.rate <= 0) return parts;
  parts.total = time_of(delivered);
  const bool has_demand = demand && demand->rate > 0;
  const double compute = has_demand ? std::min(time_of(*demand), parts.total) : parts.total;
  double waiting = parts.total - compute;
  if (delivered.stall) waiting = std::clamp(*delivered.stall / 100, 0.0, 1.0) * parts.total;
  // Waiting is measured, the rate of demand is another run's: where both do not fit, waiting holds.
  parts.compute = std::min(compute, parts.total - waiting);
  parts.sharing = parts.total - parts.compute - waiting;
  if (has_demand && computing && computing->rate > demand->rate) {
    parts.upload = std::min(time_of(*demand) - time_of(*computing), parts.compute);
    parts.compute -= parts.upload;
  }
  if (warm != nullptr && warm->rate > delivered.rate) {
    parts.storage = std::min(waiting, parts.total - time_of(*warm));
  }
  split(parts, waiting - parts.storage, warm != nullptr ? *warm : delivered);
  return parts;
}

std::vector<AttributedPoint> attribute(const Study& study) {
  std::vector<AttributedPoint> bars;
  for (const Curve& curve : study.curves) {
    if (curve.delivered.empty() || !curve.demand) continue;
    const Curve* twin = warm_twin(study, curve);
    const auto add = [&](const Point& point, bool at_knee) {
      const Point* warm = twin == nullptr ? nullptr : at_threads(twin->delivered, point.threads);
      bars.push_back({curve.format, point.threads, at_knee,
                      attribute(point, {curve.demand, curve.compute, warm})});
    };
    const Point& best = knee(curve.delivered);
    const Point& fewest = curve.delivered.front();
    if (fewest.threads != best.threads) add(fewest, false);
    add(best, true);
  }
  return bars;
}

}  // namespace feedrate::tools
