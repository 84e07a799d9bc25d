#include "tools/lab/report/study/scaling.h"

#include <algorithm>
#include <cmath>

namespace feedrate::tools {

unsigned whole_cores(double cores) {
  constexpr double max_cores = 1e6;
  constexpr double rounding = 1e-9;
  return static_cast<unsigned>(std::ceil(std::clamp(cores - rounding, 1.0, max_cores)));
}

double Scaling::growth(double cores) const {
  if (most <= fewest || cores <= most) return 1;
  const double doublings = std::log2(static_cast<double>(most) / fewest);
  const double each = std::pow(std::max(1.0, cost / cost_fewest), 1 / doublings);
  return std::pow(each, std::log2(cores / most));
}

Range Scaling::supply(double cores) const {
  return {.likely = cores / cost,
          .low = cores / (cost * (1 + doubt) * growth(cores)),
          .high = cores / (cost * std::max(1 - doubt, 0.01))};
}

Range Scaling::cores(const Range& rate) const {
  const double high = rate.high * cost * (1 + doubt);
  return {.likely = rate.likely * cost,
          .low = rate.low * cost * std::max(0.0, 1 - doubt),
          .high = high * growth(high)};
}

std::optional<double> Scaling::tried() const {
  if (most <= fewest) return std::nullopt;
  return cost / cost_fewest - 1;
}

std::optional<Scaling> scaling_of(const Curve& curve) {
  const Point* fewest = nullptr;
  const Point* most = nullptr;
  for (const Point& point : curve.supply) {
    if (point.threads == 0 || point.threads > point.cores || point.rate <= 0) continue;
    if (fewest == nullptr) fewest = &point;
    most = &point;
  }
  if (most == nullptr) return std::nullopt;
  return Scaling{.fewest = fewest->threads,
                 .most = most->threads,
                 .cost_fewest = fewest->threads / fewest->rate,
                 .cost = most->threads / most->rate,
                 .doubt = most->spread().value_or(0) / 2};
}

std::vector<Need> needs(const Study& study) {
  std::vector<Need> found;
  if (study.device == "cpu" || !study.demand || study.demand->rate <= 0) return found;
  // Even where this machine is too small or too busy to drive an emulated device so fast.
  const double demand = study.emulated_rate.value_or(study.demand->rate);
  for (const Curve& curve : study.curves) {
    if (!is_candidate(study, curve) || curve.cache != warm_cache) continue;
    if (const auto scaling = scaling_of(curve)) {
      found.push_back({&curve, demand, *scaling, scaling->cores({demand, demand, demand})});
    }
  }
  return found;
}

}  // namespace feedrate::tools
