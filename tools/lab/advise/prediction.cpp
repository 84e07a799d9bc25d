#include "tools/lab/advise/prediction.h"

#include <algorithm>
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

namespace {

using Outcome = Considered::Outcome;

/// Every number of threads from `fewest`, of which `chosen` was.
std::vector<Considered> curve_of(const Variant& variant, const Consumer& consumer, unsigned fewest,
                                 unsigned chosen) {
  std::vector<Considered> curve;
  const double best = delivered(variant, consumer, chosen);
  for (unsigned threads = fewest; threads <= variant.at_max.threads; ++threads) {
    const double rate = delivered(variant, consumer, threads);
    const bool is_slower = threads < chosen || rate < best * (1 - min_tolerance);
    curve.push_back({.threads = threads,
                     .supply = variant.supply(threads),
                     .delivered = rate,
                     .outcome = threads == chosen ? Outcome::chosen
                                : is_slower       ? Outcome::slower
                                                  : Outcome::no_faster});
  }
  return curve;
}

}  // namespace

double delivered(const Variant& variant, const Consumer& consumer, unsigned threads) {
  if (threads == 0) return 1 / (1 / consumer.demand + variant.cost(0));
  const double supply = variant.supply(threads);
  const double alone = std::min(supply, consumer.demand);
  if (!consumer.shares_cores) {
    if (consumer.driving_seconds <= 0) return alone;  // not known to take any
    return std::min(alone, consumer.cores / (consumer.driving_seconds + variant.cost(threads)));
  }
  const unsigned computing = consumer.threads > 0 ? consumer.threads : consumer.cores;
  return std::min(alone, consumer.cores / (computing / consumer.demand + variant.cost(threads)));
}

Prediction predict(const Variant& variant, const Consumer& consumer) {
  const auto doubt_at = [&](unsigned threads) {
    return std::hypot(threads <= 1 ? variant.at_min.doubt() : variant.at_max.doubt(),
                      variant.doubt);
  };
  // A doubt is half a spread.
  const auto rate_at = [&](unsigned threads) {
    return Rate{delivered(variant, consumer, threads),
                2 * std::max(consumer.doubt, doubt_at(threads))};
  };
  const unsigned most = variant.at_max.threads;
  unsigned best = 1;
  for (unsigned threads = 2; threads <= most; ++threads) {
    if (rate_at(threads).value > rate_at(best).value) best = threads;
  }
  Prediction found;
  const unsigned fewest = std::isfinite(consumer.demand) ? 0 : 1;
  found.threads = fewest;
  while (!as_fast_as(rate_at(found.threads), rate_at(best))) ++found.threads;
  found.curve = curve_of(variant, consumer, fewest, found.threads);
  found.supply = variant.supply(found.threads);
  found.delivered = delivered(variant, consumer, found.threads);
  const double loader = doubt_at(found.threads);
  // Where the two take turns, each side's doubt counts by its share of the time.
  const bool fed = found.supply > consumer.demand;
  const bool in_turn = consumer.shares_cores || found.threads == 0;
  const double share = in_turn ? found.delivered / consumer.demand : fed ? 1 : 0;
  found.doubt = std::hypot(share * consumer.doubt, (1 - share) * loader);
  const unsigned all = consumer.threads > 0 ? consumer.threads : consumer.cores;
  found.verdict = judge({.supply = Rate{found.supply, 2 * loader},
                         .demand = Rate{consumer.demand, 2 * consumer.doubt},
                         .delivered = Rate{found.delivered, 2 * found.doubt},
                         .threads = found.threads,
                         .most_threads = most,
                         .computing = consumer.shares_cores ? all : consumer.driving,
                         .cores = consumer.cores,
                         .remote = variant.remote,
                         .read = variant.at_max.read + variant.extra_read,
                         .decode = variant.at_max.decode,
                         .augment = variant.at_max.augment});
  return found;
}

}  // namespace feedrate::tools
