#include "tools/lab/report/study/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/base/statistics.h"

namespace feedrate::tools {

namespace {

constexpr double max_cores = 1e6;

}  // namespace

unsigned whole_cores(double cores) {
  constexpr double rounding = 1e-9;
  return static_cast<unsigned>(std::ceil(std::clamp(cores * (1 - rounding), 1.0, max_cores)));
}

std::optional<unsigned> known_cores(double cores) {
  constexpr double most_of_a_machine = 4096;
  return cores <= most_of_a_machine ? std::optional(whole_cores(cores)) : std::nullopt;
}

double share_of(double kernel, double all) { return all > 0 ? std::min(1.0, kernel / all) : 0; }

std::string cores_text(unsigned likely, unsigned fewest, std::optional<unsigned> most) {
  if (!most) return fmt::format("{} ({} or more)", likely, fewest);
  if (fewest == most) return std::to_string(likely);
  return fmt::format("{} ({} to {})", likely, fewest, *most);
}

double Scaling::serial() const {
  const double kernel = std::clamp(kernel_share, 0.0, 1.0) * cost / most;
  if (most <= fewest) return kernel;
  return std::clamp((cost * (1 + doubt) - cost_fewest) / (most - fewest), 0.0, kernel);
}

double Scaling::growth(double cores) const {
  if (cores <= most) return 1;
  const double by_kernel = 1 + serial() * (cores - most) / cost;
  if (most <= fewest) return by_kernel;
  const double doublings = std::log2(static_cast<double>(most) / fewest);
  const double each = std::pow(std::max(1.0, cost / cost_fewest), 1 / doublings);
  return std::max(by_kernel, std::pow(each, std::log2(cores / most)));
}

/// The number of cores that supplies this rate even in the worst case; infinite if no number does.
double Scaling::most_cores(double rate) const {
  const auto enough = [&](double cores) { return supply(cores).low >= rate; };
  double low = rate * cost * (1 + doubt);
  if (low <= most) return low;
  double high = max_cores;
  if (!enough(high)) return std::numeric_limits<double>::infinity();
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

Range Scaling::supply(double cores) const {
  return {.likely = cores / cost,
          .low = cores / (cost * (1 + doubt) * growth(cores)),
          .high = cores / (cost * std::max(1 - doubt, 0.01))};
}

Range Scaling::cores(const Range& rate) const {
  return {.likely = rate.likely * cost,
          .low = rate.low * cost * std::max(0.0, 1 - doubt),
          .high = std::max(rate.likely * cost, most_cores(rate.high))};
}

std::optional<double> Scaling::tried() const {
  if (most <= fewest) return std::nullopt;
  return cost / cost_fewest - 1;
}

namespace {

/// An image's CPU time; thread-seconds where that was not measured.
double cost_of(const Point& point) {
  return point.cpu_us ? *point.cpu_us * 1e-6 : std::max(1U, point.threads) / point.rate;
}

/// Of all points of one format, how far the cost of an image may be off, as a share.
double doubt_of(const Point& most, const std::vector<Point>& points) {
  constexpr double least = 0.05;
  if (!most.cpu_us) return most.spread().value_or(0) / 2;
  std::vector<double> times;
  for (const Point& point : points) {
    if (point.cpu_us) times.push_back(*point.cpu_us);
  }
  return std::max(least, formats::relative_spread(times) / 2);
}

}  // namespace

std::optional<Scaling> scaling_of(const Curve& curve) {
  const Point* fewest = nullptr;
  const Point* most = nullptr;
  for (const Point& point : curve.supply) {
    if (point.threads > point.cores || point.rate <= 0) continue;
    // Without threads, one thread loads: as one, unless that was measured.
    if (fewest == nullptr || fewest->threads == 0) fewest = &point;
    most = &point;
  }
  if (most == nullptr) return std::nullopt;
  return Scaling{.fewest = std::max(1U, fewest->threads),
                 .most = std::max(1U, most->threads),
                 .cost_fewest = cost_of(*fewest),
                 .cost = cost_of(*most),
                 .kernel_share = share_of(most->kernel_us.value_or(0), most->cpu_us.value_or(0)),
                 .doubt = doubt_of(*most, curve.supply)};
}

std::vector<Need> needs(const Study& study) {
  std::vector<Need> found;
  if (!study.demand || study.demand->rate <= 0) return found;
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
