#include "tools/lab/report/study/attribution.h"

#include <algorithm>

#include "tools/lab/report/study/choice.h"
#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {
namespace {

constexpr double microseconds = 1e6;

double time_of(const Point& point) { return microseconds / point.rate; }

/// Splits `waiting` in proportion to the workers' times per image.
void split_waiting(Attribution& parts, double waiting, const Point& point) {
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

/// For a cold curve, the warm one of the same tool and format; null when there is none.
const Curve* warm_twin(const Study& study, const Curve& cold) {
  const auto found = std::ranges::find_if(study.curves, [&](const Curve& curve) {
    return curve.cache == warm_cache && curve.tool == cold.tool &&
           curve.stored_as == cold.stored_as;
  });
  return cold.cache != cold_cache || found == study.curves.end() ? nullptr : &*found;
}

}  // namespace

Attribution attribute(const Point& delivered, const Baselines& baselines) {
  const auto& [demand, compute_only, warm] = baselines;
  Attribution parts;
  if (delivered.rate <= 0) return parts;
  parts.total = time_of(delivered);
  const bool has_demand = demand && demand->rate > 0;
  const double compute = has_demand ? std::min(time_of(*demand), parts.total) : parts.total;
  double waiting = parts.total - compute;
  if (delivered.stall) waiting = std::clamp(*delivered.stall / 100, 0.0, 1.0) * parts.total;
  // Waiting was measured in this run, demand in another: where the two contradict, trust waiting.
  parts.compute = std::min(compute, parts.total - waiting);
  parts.sharing = parts.total - parts.compute - waiting;
  if (has_demand && compute_only && compute_only->rate > demand->rate) {
    parts.upload = std::min(time_of(*demand) - time_of(*compute_only), parts.compute);
    parts.compute -= parts.upload;
  }
  if (warm != nullptr && warm->rate > delivered.rate) {
    parts.storage = std::min(waiting, parts.total - time_of(*warm));
  }
  split_waiting(parts, waiting - parts.storage, warm != nullptr ? *warm : delivered);
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
