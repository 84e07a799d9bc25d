#include "tools/lab/report/study/verdict_doubts.h"

#include <algorithm>
#include <cmath>

namespace feedrate::tools {
using namespace formats;
using loader::Limit;

namespace {

/// How many times as fast `other` is as `one`, with the share `outside` of chances to miss it. Absent for
/// too few rounds.
std::optional<Interval> ratio_of(const Point& one, const Point& other,
                                 double outside = one_in_twenty) {
  if (std::min(one.repeats.size(), other.repeats.size()) < min_rounds) return std::nullopt;
  return share_rounds(one, other) ? paired_ratio_interval(one.repeats, other.repeats, outside)
                                  : ratio_interval(one.repeats, other.repeats, outside);
}

bool holds_one(const Interval& ratio) { return ratio.low <= 1 && ratio.high >= 1; }

/// How many times as wide an interval of `rounds` is after so many repeats.
double narrowing(std::size_t rounds, std::size_t repeats) {
  return std::sqrt(static_cast<double>(rounds) / static_cast<double>(repeats)) *
         student_t(repeats - 1) / student_t(rounds - 1);
}

double distance(double ratio) { return std::abs(std::log(ratio)); }
double half_of(const Interval& ratio) { return std::log(ratio.high / ratio.low) / 2; }

const double largest_equal = distance(1 - loader::max_tolerance);

/// The interval that has to exclude 1 before one of two points is called slower. Beside the noise of the two,
/// that of all has to leave it: of three rounds, two may agree by chance, and of many points, some two do.
std::optional<Interval> strict_ratio(const Point& one, const Point& other, const Compared& among) {
  const std::optional<Interval> own = ratio_of(one, other);
  if (!own) return std::nullopt;
  if (!among.least) {
    return ratio_of(one, other,
                    one_in_twenty / static_cast<double>(std::max<std::size_t>(1, among.pairs)));
  }
  const double middle = std::sqrt(own->low * own->high);
  const double factor = std::exp(std::max(half_of(*own), *among.least));
  return Interval{middle / factor, middle * factor};
}

/// Rounds after which the intervals, now of `rounds`, would tell two points apart or show them to be equal.
std::size_t repeats_for(const Interval& ratio, const Interval& strict, std::size_t rounds) {
  const double middle = distance(ratio.low * ratio.high) / 2;
  for (std::size_t repeats = rounds + 1; repeats < max_repeats; ++repeats) {
    const double narrowed = narrowing(rounds, repeats);
    if (half_of(strict) * narrowed < middle) return repeats;
    if (holds_one(ratio) && half_of(ratio) * narrowed < largest_equal - middle) return repeats;
  }
  return max_repeats;
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

Compared compared(const std::vector<const Point*>& points) {
  Compared found{.pairs = points.size() * (points.size() - 1) / 2};
  const std::size_t rounds = points.empty() ? 0 : points.front()->repeats.size();
  const auto is_whole = [&](const Point* point) {
    return share_rounds(*point, *points.front()) && std::ranges::min(point->repeats) > 0;
  };
  if (points.size() < 2 || rounds < min_rounds || !std::ranges::all_of(points, is_whole))
    return found;
  // What is left of a rate's logarithm without the mean of its point and that of its round.
  const auto count = static_cast<double>(points.size()), each = static_cast<double>(rounds);
  std::vector<double> of_rounds(rounds, 0);
  double all = 0;
  for (const Point* point : points) {
    for (std::size_t i = 0; i < rounds; ++i) of_rounds[i] += std::log(point->repeats[i]) / count;
  }
  for (const double mean : of_rounds) all += mean / each;
  double squares = 0;
  for (const Point* point : points) {
    double mean = 0;
    for (const double rate : point->repeats) mean += std::log(rate) / each;
    for (std::size_t i = 0; i < rounds; ++i) {
      squares += std::pow(std::log(point->repeats[i]) - mean - of_rounds[i] + all, 2);
    }
  }
  const std::size_t degrees = (points.size() - 1) * (rounds - 1);
  found.least = student_t(degrees, one_in_twenty / static_cast<double>(found.pairs)) *
                std::sqrt(2 * squares / static_cast<double>(degrees) / each);
  return found;
}

Difference difference(const Point& one, const Point& other, const Compared& among) {
  using Outcome = Difference::Outcome;
  const std::optional<Interval> ratio = ratio_of(one, other);
  const std::optional<Interval> strict = strict_ratio(one, other, among);
  if (!ratio || !strict) return {};
  const double medians = other.rate / one.rate;
  const bool close = distance(medians) <= distance(1 - loader::min_tolerance);
  const bool agrees = (strict->low > 1) == (medians > 1);
  if (!close && !holds_one(*strict) && agrees) return {.outcome = Outcome::apart};
  const bool narrow = std::max(distance(ratio->low), distance(ratio->high)) <= largest_equal;
  if (narrow && (close || holds_one(*ratio))) return {.outcome = Outcome::none};
  return {.outcome = Outcome::open, .repeats = repeats_for(*ratio, *strict, one.repeats.size())};
}

std::vector<const Point*> pointers(const std::vector<Point>& points) {
  std::vector<const Point*> found;
  for (const Point& point : points) found.push_back(&point);
  return found;
}

double paired_spread(const Point& one, const Point& other) {
  const double each = std::max(one.as_rate().spread, other.as_rate().spread);
  if (!share_rounds(one, other)) return each;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.repeats.size(); ++i) {
    if (one.repeats[i] <= 0 || other.repeats[i] <= 0) return each;
    ratios.push_back(other.repeats[i] / one.repeats[i]);
  }
  return ratios.empty() ? each : std::min(each, relative_spread(ratios));
}

unsigned fewest_threads(const std::vector<Point>& points, const Point& point) {
  const Compared among = compared(pointers(points));
  for (const Point& one : points) {
    if (one.threads >= point.threads) break;
    const std::optional<Interval> ratio = strict_ratio(point, one, among);
    if (ratio && holds_one(*ratio)) return one.threads;
  }
  return point.threads;
}

OtherLimits other_limits(const loader::Verdict& found, const Curve& curve, const Point& point) {
  OtherLimits others;
  if (!curve.demand || curve.demand->rate <= 0) return others;
  others.limits = limits_beside(found, curve, point, 1);
  if (others.limits.empty()) return others;
  const std::size_t rounds = std::max(point.repeats.size(), min_rounds);
  for (others.repeats = rounds + 1; others.repeats < max_repeats; ++others.repeats) {
    const double narrowed = narrowing(rounds, others.repeats);
    if (limits_beside(found, curve, point, narrowed).empty()) break;
  }
  return others;
}

}  // namespace feedrate::tools
