#include "tools/lab/advise/feeding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/lab/report/study/scaling.h"

namespace feedrate::tools {
namespace {

Range range_of(const DeviceDemand& demand) {
  const double factor = demand.estimate ? demand.estimate->doubt : 1;
  const double rate = demand.images_per_second;
  return {.likely = rate, .low = rate / factor, .high = rate * factor};
}

Scaling scaling_of(const Supply& fewest, const Supply& most, double doubt) {
  constexpr double least = 0.05;  // of a mean of CPU time
  const double low = std::min(fewest.cpu_cost(), most.cpu_cost());
  const double high = std::max(fewest.cpu_cost(), most.cpu_cost());
  return {.fewest = fewest.threads,
          .most = most.threads,
          .cost_fewest = fewest.cpu_cost(),
          .cost = most.cpu_cost(),
          .kernel_share = share_of(most.kernel, most.cpu),
          .doubt = std::hypot(
              most.cpu > 0 ? std::max(least, (high - low) / (high + low)) : most.doubt(), doubt)};
}

Scaling scaling_of(const Variant& variant) {
  return scaling_of(variant.at_min, variant.at_max, variant.doubt);
}

/// The whole numbers of cores that give this rate.
Cores cores_of(const Scaling& scaling, const Range& rate) {
  const Range needed = scaling.cores(rate);
  return {.likely = whole_cores(needed.likely),
          .fewest = whole_cores(needed.low),
          .most = known_cores(needed.high)};
}

}  // namespace

Feeding feeding_of(DeviceDemand demand, const Variant& present, const Supply& half) {
  Feeding feeding;
  feeding.demand = std::move(demand);
  feeding.measured = present.at_max.threads;
  feeding.kernel_share = scaling_of(present).kernel_share;
  if (half.rates.empty()) return feeding;
  feeding.seen = half.threads;
  feeding.hidden_cores_error =
      half.rate() * feeding.measured / half.threads / present.at_max.rate() - 1;
  const Supply& fewest = present.at_min.threads < half.threads ? present.at_min : half;
  const double every = present.at_max.rate();
  const Cores told =
      cores_of(scaling_of(fewest, half, present.at_max.doubt()), {every, every, every});
  feeding.range_held =
      told.fewest <= feeding.measured && (!told.most || feeding.measured <= *told.most);
  return feeding;
}

Cores cores_for(const Feeding& feeding, const Variant& variant, std::uint64_t images) {
  Cores cores = cores_of(scaling_of(variant), range_of(feeding.demand));
  if (images != 0) {
    cores.bytes_per_second = feeding.demand.images_per_second * static_cast<double>(variant.bytes) /
                             static_cast<double>(images);
  }
  return cores;
}

}  // namespace feedrate::tools
