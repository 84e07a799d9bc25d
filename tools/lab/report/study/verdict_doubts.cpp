#include "tools/lab/report/study/verdict_doubts.h"

#include <algorithm>
#include <cmath>

namespace feedrate::tools {
using namespace formats;

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
  return {.outcome = Outcome::open};
}

std::vector<const Point*> pointers(const std::vector<Point>& points) {
  std::vector<const Point*> found;
  for (const Point& point : points) found.push_back(&point);
  return found;
}

double ratio_doubt(const Point& one, const Point& other) {
  if (const std::optional<Interval> ratio = ratio_of(one, other)) {
    return 1 - std::sqrt(ratio->low / ratio->high);
  }
  return std::max(one.as_rate().spread, other.as_rate().spread);
}

}  // namespace feedrate::tools
