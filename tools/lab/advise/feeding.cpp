#include "tools/lab/advise/feeding.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace feedrate::tools {
namespace {

unsigned whole_cores(double cores) {
  constexpr double max_cores = 1e6;
  constexpr double rounding = 1e-9;  // a demand of exactly two cores is two
  return static_cast<unsigned>(std::ceil(std::clamp(cores - rounding, 1.0, max_cores)));
}

/// The demand may be half or double where it is an estimate.
std::pair<double, double> range_of(const DeviceDemand& demand) {
  const double factor = demand.estimated ? 2 : 1;
  return {demand.images_per_second / factor, demand.images_per_second * factor};
}

}  // namespace

Feeding feeding_of(DeviceDemand demand, const Variant& present) {
  Feeding feeding;
  feeding.demand = std::move(demand);
  feeding.measured = present.at_max.threads;
  if (present.at_max.threads > present.at_min.threads) {
    feeding.hidden_cores_error = present.at_max.cost() / present.at_min.cost() - 1;
  }
  return feeding;
}

Cores cores_for(const Feeding& feeding, const Variant& variant, std::uint64_t images) {
  const unsigned measured = variant.at_max.threads;
  const double cost = variant.cost(measured);
  const double doubt = std::hypot(variant.at_max.doubt(), variant.doubt);
  const auto [low, high] = range_of(feeding.demand);
  Cores cores{.likely = whole_cores(feeding.demand.images_per_second * cost),
              .fewest = whole_cores(low * cost * std::max(0.0, 1 - doubt))};
  double most = high * cost * (1 + doubt);
  if (measured > variant.at_min.threads && most > measured) {
    const double doublings = std::log2(static_cast<double>(measured) / variant.at_min.threads);
    const double growth =
        std::pow(std::max(1.0, variant.at_max.cost() / variant.at_min.cost()), 1 / doublings);
    most *= std::pow(growth, std::log2(most / measured));
  }
  cores.most = std::max(cores.likely, whole_cores(most));
  if (images != 0) {
    cores.bytes_per_second = feeding.demand.images_per_second * static_cast<double>(variant.bytes) /
                             static_cast<double>(images);
  }
  return cores;
}

}  // namespace feedrate::tools
