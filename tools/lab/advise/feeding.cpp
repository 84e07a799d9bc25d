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

Scaling scaling_of(const Variant& variant) {
  return {.fewest = variant.at_min.threads,
          .most = variant.at_max.threads,
          .cost_fewest = variant.cost(variant.at_min.threads),
          .cost = variant.cost(variant.at_max.threads),
          .kernel_share = share_of(variant.at_max.kernel, variant.at_max.cpu),
          .doubt = std::hypot(variant.at_max.doubt(), variant.doubt),
          .ran = variant.at_max.ran_while_crowded().value_or(1)};
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
  const Cores told = cores_of({.fewest = fewest.threads,
                               .most = half.threads,
                               .cost_fewest = fewest.cost(),
                               .cost = half.cost(),
                               .kernel_share = share_of(half.kernel, half.cpu),
                               .doubt = std::hypot(half.doubt(), present.at_max.doubt()),
                               .ran = half.ran_while_crowded().value_or(1)},
                              {every, every, every});
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
