#include "tools/lab/report/study/verdict_doubts.h"

#include <algorithm>
#include <cmath>

namespace feedrate::tools {
using namespace formats;
using loader::Limit;

namespace {

constexpr double max_repeats = 99;

/// How many times as fast `other` is as `one`. Absent for too few rounds.
std::optional<Interval> ratio_of(const Point& one, const Point& other) {
  if (std::min(one.repeats.size(), other.repeats.size()) < min_rounds) return std::nullopt;
  return one.repeats.size() == other.repeats.size()
             ? paired_ratio_interval(one.repeats, other.repeats)
             : ratio_interval(one.repeats, other.repeats);
}

bool holds_one(const Interval& ratio) { return ratio.low <= 1 && ratio.high >= 1; }

/// Rounds after which half an interval, now of so many, is as wide as `margin`.
std::size_t repeats_for(double half, double margin, std::size_t rounds) {
  const double wanted = static_cast<double>(rounds) * std::pow(half / margin, 2);
  return static_cast<std::size_t>(wanted < max_repeats ? std::ceil(wanted) + 1 : max_repeats);
}

/// How many times as large the second is as the first may be, beside what its median says; 1 where
/// nothing is known of the noise. `narrowed`: as if the interval were so many times as wide.
Interval doubt_of(const Point& one, const Point& other, double narrowed) {
  const std::optional<Interval> ratio = ratio_of(one, other);
  const double middle = other.rate / one.rate;
  if (!ratio || !(middle > 0)) return {1, 1};
  return {std::pow(ratio->low / middle, narrowed), std::pow(ratio->high / middle, narrowed)};
}

std::optional<loader::Rate> times_as_fast(std::optional<loader::Rate> rate, double factor) {
  if (rate) rate->value *= factor;
  return rate;
}

std::vector<Limit> limits_beside(const loader::Verdict& found, const Curve& curve,
                                 const Point& point, double narrowed) {
  std::vector<Limit> others;
  const Point& demand = *curve.demand;
  const Point* const supply = at_threads(curve.supply, point.threads);
  const Interval certain{1, 1};
  const Interval of_delivered = doubt_of(demand, point, narrowed);
  const Interval of_supply = supply == nullptr ? certain : doubt_of(demand, *supply, narrowed);
  const Interval of_compute = curve.compute ? doubt_of(demand, *curve.compute, narrowed) : certain;
  for (const double delivered : {of_delivered.low, of_delivered.high}) {
    for (const double supplied : {of_supply.low, of_supply.high}) {
      for (const double computed : {of_compute.low, of_compute.high}) {
        loader::Figures figures = found.figures;
        figures.delivered = times_as_fast(figures.delivered, delivered);
        figures.supply = times_as_fast(figures.supply, supplied);
        figures.compute = times_as_fast(figures.compute, computed);
        const Limit limit = judge(figures).limit;
        if (limit != found.limit && std::ranges::find(others, limit) == others.end()) {
          others.push_back(limit);
        }
      }
    }
  }
  return others;
}

}  // namespace

Difference difference(const Point& one, const Point& other) {
  using Outcome = Difference::Outcome;
  const std::optional<Interval> ratio = ratio_of(one, other);
  if (!ratio) return {};
  const bool equal =
      as_fast_as(one.as_rate(), other.as_rate()) && as_fast_as(other.as_rate(), one.as_rate());
  const double tolerance = -std::log(1 - loader::max_tolerance);
  const bool far = ratio->high > std::exp(tolerance) || ratio->low < std::exp(-tolerance);
  if (equal && !(far && holds_one(*ratio))) return {.outcome = Outcome::none};
  if (!holds_one(*ratio)) return {.outcome = Outcome::apart};
  const double middle = std::abs(std::log(ratio->low * ratio->high)) / 2;
  const double half = std::log(ratio->high / ratio->low) / 2;
  const double margin = equal ? std::max(middle, tolerance - middle) : middle;
  return {.outcome = Outcome::open, .repeats = repeats_for(half, margin, one.repeats.size())};
}

unsigned fewest_threads(const std::vector<Point>& points, const Point& point) {
  for (const Point& one : points) {
    if (one.threads >= point.threads) break;
    const std::optional<Interval> ratio = ratio_of(point, one);
    if (ratio && holds_one(*ratio)) return one.threads;
  }
  return point.threads;
}

OtherLimits other_limits(const loader::Verdict& found, const Curve& curve, const Point& point) {
  OtherLimits others;
  if (!curve.demand || curve.demand->rate <= 0) return others;
  others.limits = limits_beside(found, curve, point, 1);
  if (others.limits.empty()) return others;
  const auto rounds = static_cast<double>(point.repeats.size());
  for (double repeats = rounds + 1; repeats <= max_repeats; ++repeats) {
    others.repeats = static_cast<std::size_t>(repeats);
    if (limits_beside(found, curve, point, std::sqrt(rounds / repeats)).empty()) break;
  }
  return others;
}

}  // namespace feedrate::tools
