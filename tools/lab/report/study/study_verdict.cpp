#include "tools/lab/report/study/study_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/console/text.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace formats;
using loader::Limit;

namespace {

struct Candidate {
  const Curve* curve;
  const Point* point;
  double supply;  // with as many threads; 0 when not measured
};

std::vector<Candidate> candidates(const Study& study, std::vector<Point> Curve::*points) {
  std::vector<Candidate> found;
  for (const Curve& curve : study.curves) {
    if ((curve.*points).empty() || !is_candidate(study, curve)) continue;
    const Point& point = knee(curve.*points);
    const Point* supply = at_threads(curve.supply, point.threads);
    found.push_back({&curve, &point, supply == nullptr ? 0 : supply->rate});
  }
  return found;
}

/// Those that are as fast as the fastest: fewer threads first, then more supply.
std::vector<Candidate> best_first(std::vector<Candidate> all) {
  const Candidate top =
      *std::ranges::max_element(all, {}, [](const Candidate& one) { return one.point->rate; });
  std::erase_if(all, [&](const Candidate& one) {
    return !as_fast_as(one.point->as_rate(), top.point->as_rate());
  });
  std::ranges::stable_sort(
      all, {}, [](const Candidate& one) { return std::pair(one.point->threads, -one.supply); });
  return all;
}

std::optional<loader::Rate> rate_of(const Point* point) {
  return point == nullptr ? std::nullopt : std::optional(point->as_rate());
}

std::optional<loader::Rate> rate_of(const std::optional<Point>& point) {
  return rate_of(point ? &*point : nullptr);
}

/// A worker's seconds for an image; 0 when not measured.
double seconds(std::optional<double> microseconds) { return microseconds.value_or(0) * 1e-6; }

loader::Figures figures_of(const Curve& curve, const Point& point) {
  loader::Figures figures{.supply = rate_of(at_threads(curve.supply, point.threads)),
                          .demand = rate_of(curve.demand),
                          .compute = rate_of(curve.compute),
                          .delivered = point.as_rate(),
                          .threads = point.threads,
                          .most_threads = curve.delivered.back().threads,
                          .computing = point.computing,
                          .cores = point.cores,
                          .remote = curve.remote,
                          .read = seconds(point.read_us),
                          .decode = seconds(point.decode_us),
                          .augment = seconds(point.augment_us)};
  if (point.stall) figures.stall = *point.stall / 100;
  return figures;
}

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// The formats that are as fast as the chosen one, the first of `best`; "" when there are none.
std::string equals_sentence(const std::vector<Candidate>& best) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const auto& [curve, point, supply] = best[i];
    const bool same = point->threads == best.front().point->threads;
    names.push_back(curve->format + (same ? "" : " with " + loader_threads(point->threads)));
  }
  if (names.empty()) return {};
  return fmt::format(" {} {} as fast, within the noise.", listed(names),
                     names.size() == 1 ? "is" : "are");
}

/// Fewer tell nothing about the noise.
constexpr std::size_t min_rounds = 3;

/// How many times as fast `other` is as `one`. Points of a study are measured in turns, each once a
/// round. Absent for fewer than three rounds, which would say nothing.
std::optional<Interval> ratio_of(const Point& one, const Point& other) {
  if (std::min(one.repeats.size(), other.repeats.size()) < min_rounds) return std::nullopt;
  return one.repeats.size() == other.repeats.size()
             ? paired_ratio_interval(one.repeats, other.repeats)
             : ratio_interval(one.repeats, other.repeats);
}

/// The formats that are not as fast as the chosen one.
struct Others {
  std::vector<std::string> slower;
  std::vector<std::string> undecided;  // slower, but not beyond the noise of the rounds
  std::size_t repeats = 0;             // that would decide about all of them, about
};

/// Rounds after which an interval as wide as this no longer holds 1.
std::size_t deciding_repeats(const Interval& ratio, std::size_t rounds) {
  constexpr double max_repeats = 99;
  const double middle = std::abs(std::log(ratio.low * ratio.high)) / 2;
  const double half = std::log(ratio.high / ratio.low) / 2;
  const double wanted = static_cast<double>(rounds) * half * half / (middle * middle);
  return static_cast<std::size_t>(std::clamp(std::ceil(wanted) + 1, 1.0, max_repeats));
}

Others others_of(const Study& study, const std::vector<Candidate>& best) {
  const Point& chosen = *best.front().point;
  Others others;
  for (const Curve& curve : study.curves) {
    const bool is_best = std::ranges::find(best, &curve, &Candidate::curve) != best.end();
    if (is_best || curve.delivered.empty() || chosen.rate <= 0) continue;
    const Point& point = knee(curve.delivered);
    const double percent = 100 * (point.rate / chosen.rate - 1);
    const std::optional<Interval> ratio = ratio_of(chosen, point);
    const bool undecided = !ratio || (ratio->low <= 1 && ratio->high >= 1);
    const bool same = point.threads == chosen.threads;
    (undecided ? others.undecided : others.slower)
        .push_back(fmt::format("{} {:.0f} % {}{}", curve.format, std::abs(percent),
                               percent < 0 ? "slower" : "faster",
                               same ? "" : " with " + loader_threads(point.threads)));
    if (!undecided) continue;
    const std::size_t repeats =
        ratio ? deciding_repeats(*ratio, chosen.repeats.size()) : min_rounds;
    others.repeats = std::max(others.repeats, repeats);
  }
  return others;
}

std::string others_sentence(const Others& others) {
  std::string text;
  if (!others.slower.empty()) text = fmt::format(" Beside it: {}.", fmt::join(others.slower, ", "));
  if (others.undecided.empty()) return text;
  return text +
         fmt::format(" Not beyond the noise of the rounds: {}; about --repeat {} would tell.",
                     fmt::join(others.undecided, ", "), others.repeats);
}

/// How many times as large the second is as the first may be; 1 where nothing is known of the noise.
Interval doubt_of(const std::vector<double>& one, const Point& other) {
  Point of;
  of.repeats = one;
  const std::optional<Interval> ratio = ratio_of(of, other);
  const double middle = other.rate / median(one);
  if (!ratio || !(middle > 0)) return {1, 1};
  return {ratio->low / middle, ratio->high / middle};
}

std::optional<loader::Rate> times_as_fast(std::optional<loader::Rate> rate, double factor) {
  if (rate) rate->value *= factor;
  return rate;
}

/// The limits, other than the one found, that hold if what was compared with demand was as slow or as
/// fast as the rounds leave open.
std::vector<Limit> other_limits(const loader::Verdict& found, const Curve& curve,
                                const Point& point) {
  std::vector<Limit> others;
  if (!curve.demand || curve.demand->rate <= 0) return others;
  const std::vector<double>& demand = curve.demand->repeats;
  const Point* const supply = at_threads(curve.supply, point.threads);
  const Interval certain{1, 1};
  const Interval of_delivered = doubt_of(demand, point);
  const Interval of_supply = supply == nullptr ? certain : doubt_of(demand, *supply);
  const Interval of_compute = curve.compute ? doubt_of(demand, *curve.compute) : certain;
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

std::string other_limits_sentence(const std::vector<Limit>& limits) {
  if (limits.empty()) return {};
  std::vector<std::string> names;
  for (const Limit limit : limits) names.emplace_back(name(limit));
  return fmt::format(
      " Within the noise of the rounds, the limit may be another ({}); bench --decide goes on "
      "until they tell.",
      fmt::join(names, ", "));
}

StudyVerdict choice(const Candidate& chosen) {
  StudyVerdict verdict;
  verdict.format = chosen.curve->format;
  verdict.threads = chosen.point->threads;
  verdict.rate = chosen.point->rate;
  return verdict;
}

StudyVerdict judge_supply(const Study& study) {
  StudyVerdict verdict;
  std::vector<Candidate> all = candidates(study, &Curve::supply);
  if (all.empty()) {
    verdict.answer = "No answer";
    verdict.finding = "Only demand was measured; no row loads data.";
    return verdict;
  }
  verdict = choice(best_first(std::move(all)).front());
  verdict.answer = fmt::format("The loader is fastest with {} and {}",
                               loader_threads(verdict.threads), verdict.format);
  verdict.finding = fmt::format("The loader alone supplies {} images/s.", quantity(verdict.rate));
  verdict.details =
      " Nothing was trained, so it is unknown how many a trainer can take (measure it with 'bench "
      "--network').";
  return verdict;
}

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const loader::Rate best = std::ranges::max_element(points, {}, &Point::rate)->as_rate();
  return *std::ranges::find_if(
      points, [&](const Point& point) { return as_fast_as(point.as_rate(), best); });
}

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  const bool is_trained =
      std::ranges::any_of(study.curves, [](const Curve& one) { return !one.delivered.empty(); });
  return is_trained || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

StudyVerdict judge(const Study& study) {
  const std::vector<Candidate> all = candidates(study, &Curve::delivered);
  if (all.empty()) return judge_supply(study);
  const std::vector<Candidate> best = best_first(all);
  const auto& [curve, point, supply] = best.front();
  StudyVerdict verdict = choice(best.front());
  verdict.stall = point->stall;
  if (curve->demand) verdict.demand = curve->demand->rate;
  const loader::Verdict found = judge(figures_of(*curve, *point));
  verdict.limit = found.limit;
  verdict.finding = finding_text(found);
  for (std::size_t i = 1; i < best.size(); ++i) verdict.as_good.push_back(best[i].curve->format);
  const bool any_format = all.size() > 1 && best.size() == all.size() &&
                          best.back().point->threads == point->threads;  // sorted by threads
  const bool is_fed = found.limit == Limit::trainer;
  verdict.answer = is_fed ? enough_threads_text(point->threads)
                          : fmt::format("Use {}", loader_threads(point->threads));
  const Others others = others_of(study, best);
  verdict.answer += any_format                 ? "; any format will do"
                    : all.size() == 1          ? " with " + verdict.format
                    : others.undecided.empty() ? "; best format: " + verdict.format
                                               : "; best format, if any: " + verdict.format;
  const std::string advice = is_fed ? "" : advice_text(found);
  if (!advice.empty()) verdict.details = " " + advice;
  if (!any_format) verdict.details += equals_sentence(best);
  verdict.details += others_sentence(others);
  verdict.other_limits = other_limits(found, *curve, *point);
  verdict.details += other_limits_sentence(verdict.other_limits);
  verdict.few_rounds = point->repeats.size() < min_rounds;
  verdict.undecided = !others.undecided.empty();
  return verdict;
}

std::optional<double> percent_of_demand(const StudyVerdict& verdict) {
  if (!verdict.demand || *verdict.demand <= 0) return std::nullopt;
  return 100 * verdict.rate / *verdict.demand;
}

std::string sentence(const Study& study, const StudyVerdict& verdict) {
  return fmt::format("{}: {} {}.{}", study.title(), verdict.finding, verdict.answer,
                     verdict.details);
}

}  // namespace feedrate::tools
