#include "tools/report/study/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/cli/text.h"

namespace feedrate::tools {
namespace {

// Smaller differences do not matter, even where repeats are close enough to measure them.
constexpr double min_tolerance = 0.03;
// A wider spread of repeats means a noisy machine, and raises the tolerance no further.
constexpr double max_tolerance = 0.10;
// A trainer that waits longer is limited by the loader.
constexpr double max_fed_stall_percent = 5;
// At this share of demand, demand is met.
constexpr double met_share_of_demand = 0.95;

struct LimitText {
  std::string_view name, opening, advice;
};
/// In the order of Limit.
constexpr std::array<LimitText, 4> limit_texts{{
    {"trainer", "The trainer is the limit: it gets", " More loader threads would not help."},
    {"loader", "The loader is the limit: the trainer gets",
     " More cores or a cheaper codec would help."},
    {"cores", "The cores are the limit: the trainer gets",
     " The loader and the trainer compete for them; more cores would help."},
    {"unknown",
     "The limit is unknown, since neither demand nor stall was measured: the trainer gets", ""},
}};

const LimitText& text_of(Limit limit) { return limit_texts.at(static_cast<std::size_t>(limit)); }

/// Equal within the tolerance: the spread of the repeats, between the two limits above.
bool is_as_fast_as(const Point& point, const Point& best) {
  const double spread = std::max(point.spread(), best.spread());
  return point.rate >= best.rate * (1 - std::clamp(spread, min_tolerance, max_tolerance));
}

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
  std::erase_if(all, [&](const Candidate& one) { return !is_as_fast_as(*one.point, *top.point); });
  std::ranges::stable_sort(
      all, {}, [](const Candidate& one) { return std::pair(one.point->threads, -one.supply); });
  return all;
}

Limit limit_of(const Point& point, const std::optional<Point>& demand) {
  if (point.stall && *point.stall > max_fed_stall_percent) return Limit::loader;
  if (demand && point.rate < met_share_of_demand * demand->rate) return Limit::cores;
  return point.stall || demand ? Limit::trainer : Limit::unknown;
}

/// The limit, and the figures behind it.
std::string limit_sentences(const StudyVerdict& verdict) {
  const LimitText& words = text_of(verdict.limit);
  std::string text = fmt::format("{} {} images/s", words.opening, quantity(verdict.rate));
  if (const auto share = percent_of_demand(verdict)) {
    text += fmt::format(", {:.0f} % of what it can take ({})", *share, quantity(*verdict.demand));
    if (verdict.stall) text += ",";
  }
  if (verdict.stall)
    text += fmt::format(" and waits for data {:.1f} % of the time", *verdict.stall);
  return fmt::format("{}.{}", text, words.advice);
}

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// The formats that are as fast as the chosen one, the first of `best`; "" when there are none.
std::string equals_sentence(const std::vector<Candidate>& best) {
  const Point& chosen = *best.front().point;
  double max_difference = 0, max_spread = chosen.spread();
  std::vector<std::string> names;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const auto& [curve, point, supply] = best[i];
    const bool same = point->threads == chosen.threads;
    names.push_back(curve->format + (same ? "" : " with " + loader_threads(point->threads)));
    if (chosen.rate > 0) {
      max_difference = std::max(max_difference, std::abs(point->rate - chosen.rate) / chosen.rate);
    }
    max_spread = std::max(max_spread, point->spread());
  }
  if (names.empty()) return {};
  const std::string text = fmt::format(" {} {} as fast, within {:.1f} %", listed(names),
                                       names.size() == 1 ? "is" : "are", 100 * max_difference);
  if (max_spread <= std::max(min_tolerance, max_difference)) return text + ".";
  return text + fmt::format("; repeats differ by up to {:.1f} %, so these rows cannot rank them.",
                            100 * max_spread);
}

/// What the remaining formats deliver.
std::string others_sentences(const Study& study, const std::vector<Candidate>& best) {
  std::string text;
  for (const Curve& curve : study.curves) {
    const bool is_best = std::ranges::find(best, &curve, &Candidate::curve) != best.end();
    if (is_best || curve.delivered.empty()) continue;
    const Point& point = knee(curve.delivered);
    text += fmt::format(" {} delivers {} images/s with {}.", curve.format, quantity(point.rate),
                        loader_threads(point.threads));
  }
  return text;
}

StudyVerdict choice(const Candidate& chosen) {
  StudyVerdict verdict;
  verdict.format = chosen.curve->format;
  verdict.threads = chosen.point->threads;
  verdict.rate = chosen.point->rate;
  verdict.answer = fmt::format("{}, {}", loader_threads(verdict.threads), verdict.format);
  return verdict;
}

StudyVerdict judge_supply(const Study& study) {
  StudyVerdict verdict;
  std::vector<Candidate> all = candidates(study, &Curve::supply);
  if (all.empty()) {
    verdict.answer = "no answer";
    verdict.reason = "Only demand was measured; no row loads data.";
    return verdict;
  }
  verdict = choice(best_first(std::move(all)).front());
  verdict.reason = fmt::format(
      "The loader alone supplies {} images/s. Nothing was trained, so it is unknown how many a "
      "trainer can take (measure it with 'bench --network').",
      quantity(verdict.rate));
  return verdict;
}

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const Point& best = *std::ranges::max_element(points, {}, &Point::rate);
  return *std::ranges::find_if(points,
                               [&](const Point& point) { return is_as_fast_as(point, best); });
}

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  const bool is_trained =
      std::ranges::any_of(study.curves, [](const Curve& one) { return !one.delivered.empty(); });
  return is_trained || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

std::string_view name_of(Limit limit) { return text_of(limit).name; }

std::string loader_threads(unsigned threads) {
  return threads == 0 ? "no loader threads" : counted(threads, "loader thread");
}

StudyVerdict judge(const Study& study) {
  const std::vector<Candidate> all = candidates(study, &Curve::delivered);
  if (all.empty()) return judge_supply(study);
  const std::vector<Candidate> best = best_first(all);
  const Point& point = *best.front().point;
  StudyVerdict verdict = choice(best.front());
  verdict.stall = point.stall;
  if (study.demand) verdict.demand = study.demand->rate;
  verdict.limit = limit_of(point, study.demand);
  for (std::size_t i = 1; i < best.size(); ++i) verdict.as_good.push_back(best[i].curve->format);
  const bool any_format = all.size() > 1 && best.size() == all.size() &&
                          best.back().point->threads == point.threads;  // sorted by threads
  if (any_format) verdict.answer = loader_threads(point.threads) + ", any of the formats";
  verdict.reason = limit_sentences(verdict) + equals_sentence(best) + others_sentences(study, best);
  return verdict;
}

std::optional<double> percent_of_demand(const StudyVerdict& verdict) {
  if (!verdict.demand || *verdict.demand <= 0) return std::nullopt;
  return 100 * verdict.rate / *verdict.demand;
}

std::string sentence(const Study& study, const StudyVerdict& verdict) {
  return fmt::format("{}: {}. {}", study.title(), verdict.answer, verdict.reason);
}

}  // namespace feedrate::tools
