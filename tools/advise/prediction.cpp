#include "tools/advise/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace feedrate::tools {
using namespace loader;

double Variant::cost(unsigned threads) const {
  double cost = at_min.cost();
  if (at_max.threads > at_min.threads) {
    const unsigned between = std::clamp(threads, at_min.threads, at_max.threads) - at_min.threads;
    cost += between * (at_max.cost() - at_min.cost()) / (at_max.threads - at_min.threads);
  }
  return cost + extra_read;
}

double delivered(const Variant& variant, const Consumer& consumer, unsigned threads) {
  if (threads == 0) return 1 / (1 / consumer.demand + variant.cost(0));
  const double supply = variant.supply(threads);
  const double alone = std::min(supply, consumer.demand);
  if (!consumer.shares_cores) return alone;
  const unsigned computing = consumer.threads > 0 ? consumer.threads : consumer.cores;
  return std::min(alone, consumer.cores / (computing / consumer.demand + variant.cost(threads)));
}

Prediction predict(const Variant& variant, const Consumer& consumer) {
  double best = 0;
  for (unsigned threads = 1; threads <= variant.at_max.threads; ++threads) {
    best = std::max(best, delivered(variant, consumer, threads));
  }
  Prediction found;
  found.threads = 1;
  while (delivered(variant, consumer, found.threads) < (1 - knee_margin) * best) ++found.threads;
  found.supply = variant.supply(found.threads);
  found.delivered = delivered(variant, consumer, found.threads);
  const bool fed = found.supply > consumer.demand;
  const double loader = std::hypot(
      found.threads == 1 ? variant.at_min.doubt() : variant.at_max.doubt(), variant.doubt);
  // On shared cores, each side's doubt counts by its share of the time.
  const double share = consumer.shares_cores ? found.delivered / consumer.demand : fed ? 1 : 0;
  found.doubt = std::hypot(share * consumer.doubt, (1 - share) * loader);
  if (!fed) {
    const std::array<double, 3> stages = {variant.at_max.read + variant.extra_read,
                                          variant.at_max.decode, variant.at_max.augment};
    found.bound = static_cast<Bound>(std::ranges::max_element(stages) - stages.begin());
  }
  return found;
}

}  // namespace feedrate::tools
