#include "tools/advise/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace feedrate {

double Way::supply(unsigned threads) const {
  double cost = one.cost();
  if (most.threads > 1) {
    const double share = static_cast<double>(threads - 1) / (most.threads - 1);
    cost += share * (most.cost() - one.cost());
  }
  return threads / (cost + extra_read);
}

double delivered(const Way& way, const Consumer& consumer, unsigned threads) {
  const double supply = way.supply(threads);
  if (!consumer.shares_cores) return std::min(supply, consumer.demand);
  const double cost = threads / supply;
  return std::min(supply, 1 / (1 / consumer.demand + cost / consumer.cores));
}

Prediction predict(const Way& way, const Consumer& consumer) {
  double best = 0;
  for (unsigned threads = 1; threads <= way.most.threads; ++threads) {
    best = std::max(best, delivered(way, consumer, threads));
  }
  Prediction found;
  found.threads = 1;
  while (delivered(way, consumer, found.threads) < (1 - knee_margin) * best) ++found.threads;
  found.supply = way.supply(found.threads);
  found.delivered = delivered(way, consumer, found.threads);
  const bool fed = found.supply > consumer.demand;
  const double loader =
      std::hypot(found.threads == 1 ? way.one.doubt() : way.most.doubt(), way.doubt);
  // On shared cores both sides cost their share of the time.
  const double share = consumer.shares_cores ? found.delivered / consumer.demand : fed ? 1 : 0;
  found.doubt = std::hypot(share * consumer.doubt, (1 - share) * loader);
  if (!fed) {
    const std::array<double, 3> stages = {way.most.read + way.extra_read, way.most.decode,
                                          way.most.augment};
    found.bound = static_cast<Bound>(std::ranges::max_element(stages) - stages.begin());
  }
  return found;
}

}  // namespace feedrate
