#include "tools/advise/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace feedrate::tools {
using namespace loader;

double Way::cost(unsigned threads) const {
  double cost = one.cost();
  if (most.threads > one.threads) {
    const unsigned between = std::clamp(threads, one.threads, most.threads) - one.threads;
    cost += between * (most.cost() - one.cost()) / (most.threads - one.threads);
  }
  return cost + extra_read;
}

double delivered(const Way& way, const Consumer& consumer, unsigned threads) {
  if (threads == 0) return 1 / (1 / consumer.demand + way.cost(0));
  const double supply = way.supply(threads);
  const double alone = std::min(supply, consumer.demand);
  if (!consumer.shares_cores) return alone;
  const unsigned computing = consumer.threads > 0 ? consumer.threads : consumer.cores;
  return std::min(alone, consumer.cores / (computing / consumer.demand + way.cost(threads)));
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

}  // namespace feedrate::tools
