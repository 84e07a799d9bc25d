#include "loader/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace feedrate::loader {

std::string times(double factor) {
  return fmt::format("{:.{}f} times", factor, factor < 10 ? 1 : 0);
}

std::string_view name(Bound bound) {
  constexpr std::array<std::string_view, 4> names = {"fetch", "decode", "augment", "consumer"};
  return names[static_cast<std::size_t>(bound)];
}

Verdict judge(const LoaderStats& stats, unsigned threads) {
  Verdict verdict;
  const std::array<double, 3> stages = {stats.busy_read, stats.busy_decode, stats.busy_augment};
  const double busy = stages[0] + stages[1] + stages[2];
  const double images = static_cast<double>(stats.images);
  // The time outside next(), in which the consumer worked.
  const double consuming = stats.alive_seconds - stats.wait_seconds;
  if (stats.images == 0 || busy <= 0 || consuming <= 0) return verdict;
  const auto longest = std::ranges::max_element(stages);
  verdict.supply = images * std::max(1U, threads) / busy;
  verdict.demand = images / consuming;
  verdict.stage = *longest / busy;
  if (verdict.demand >= verdict.supply)
    verdict.bound = static_cast<Bound>(longest - stages.begin());
  return verdict;
}

std::string Verdict::text() const {
  if (supply <= 0) return "nothing was handed out";
  if (bound == Bound::consumer) {
    return fmt::format("consumer-bound: the workers could give {} as many images/s",
                       times(margin()));
  }
  return fmt::format(
      "{}-bound: it took {:.0f} % of the workers' time; the consumer could take {} as many "
      "images/s",
      name(bound), 100 * stage, times(margin()));
}

}  // namespace feedrate::loader
