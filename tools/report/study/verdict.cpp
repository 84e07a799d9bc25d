#include "tools/report/study/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/cli/text.h"

namespace feedrate::tools {
namespace {

// Below this a difference does not matter, even where it can be measured.
constexpr double negligible = 0.03;
// Repeats that differ by more cannot excuse a difference: they say that the machine was not quiet.
constexpr double excusable = 0.10;
// A trainer that waits less than this is kept fed.
constexpr double fed_stall_percent = 5;
// Delivered at this share of demand or more: the trainer has all it can take.
constexpr double met_share = 0.95;

struct LimitWords {
  std::string_view name, conclusion;
};
/// In the order of Limit.
constexpr std::array<LimitWords, 4> limit_words{{
    {"trainer", " The trainer is the limit: faster loading would gain nothing."},
    {"loader", " The loader is the limit: more cores or a cheaper codec would help."},
    {"cores", " Loader and trainer share too few cores: that, not waiting, costs the rest."},
    {"unknown", ""},
}};

const LimitWords& words_of(Limit limit) { return limit_words.at(static_cast<std::size_t>(limit)); }

/// What differs by less than what matters, or than the repeats can tell apart, does not differ.
bool as_good_as(const Point& point, const Point& best) {
  const double spread = std::max(point.spread(), best.spread());
  return point.rate >= best.rate * (1 - std::clamp(spread, negligible, excusable));
}

struct Candidate {
  const Curve* curve;
  const Point* point;
  double supply;  // at these threads; 0 when not measured
};

std::vector<Candidate> candidates(const Study& study, std::vector<Point> Curve::*points) {
  std::vector<Candidate> found;
  for (const Curve& curve : study.curves) {
    if ((curve.*points).empty() || !is_own(study, curve)) continue;
    const Point& point = knee(curve.*points);
    const Point* supply = at_threads(curve.supply, point.threads);
    found.push_back({&curve, &point, supply == nullptr ? 0 : supply->rate});
  }
  return found;
}

/// Those as good as the fastest: fewer threads first, then more supply.
std::vector<Candidate> best_first(std::vector<Candidate> all) {
  const Candidate top =
      *std::ranges::max_element(all, {}, [](const Candidate& one) { return one.point->rate; });
  std::erase_if(all, [&](const Candidate& one) { return !as_good_as(*one.point, *top.point); });
  std::ranges::stable_sort(
      all, {}, [](const Candidate& one) { return std::pair(one.point->threads, -one.supply); });
  return all;
}

Limit limit_of(const Point& point, const std::optional<Point>& demand) {
  if (point.stall && *point.stall > fed_stall_percent) return Limit::loader;
  if (demand && point.rate < met_share * demand->rate) return Limit::cores;
  return point.stall || demand ? Limit::trainer : Limit::unknown;
}

std::string why(const StudyVerdict& verdict) {
  std::string text = fmt::format("{} images/s are delivered", quantity(verdict.rate));
  if (const auto share = percent_of_demand(verdict)) {
    text +=
        fmt::format(", {:.0f} % of the {} the trainer can take", *share, quantity(*verdict.demand));
  }
  if (verdict.stall) text += fmt::format("; it waits {:.1f} % of its time", *verdict.stall);
  return fmt::format("{}.{}", text, words_of(verdict.limit).conclusion);
}

/// Which formats do as well as the chosen one, the first of `best`.
std::string equals(const std::vector<Candidate>& best) {
  const Point& chosen = *best.front().point;
  double widest_difference = 0, widest_spread = chosen.spread();
  std::vector<std::string> names;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const auto& [curve, point, supply] = best[i];
    const bool same = point->threads == chosen.threads;
    names.push_back(curve->format + (same ? "" : fmt::format(" with {}", point->threads)));
    if (chosen.rate > 0) {
      widest_difference =
          std::max(widest_difference, std::abs(point->rate - chosen.rate) / chosen.rate);
    }
    widest_spread = std::max(widest_spread, point->spread());
  }
  if (names.empty()) return {};
  const std::string text =
      fmt::format(" {} do{} as well, within {:.1f} %", fmt::join(names, " and "),
                  names.size() == 1 ? "es" : "", 100 * widest_difference);
  if (widest_spread <= std::max(negligible, widest_difference)) return text + ".";
  return text + fmt::format(
                    ", which is less than the {:.1f} % between repeats: these rows cannot "
                    "tell them apart.",
                    100 * widest_spread);
}

/// What every format delivers that does not do as well.
std::string others(const Study& study, const std::vector<Candidate>& best) {
  std::string text;
  for (const Curve& curve : study.curves) {
    const bool listed = std::ranges::find(best, &curve, &Candidate::curve) != best.end();
    if (listed || curve.delivered.empty()) continue;
    const Point& point = knee(curve.delivered);
    text += fmt::format(" {} delivers {} with {}.", curve.format, quantity(point.rate),
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
    verdict.reason = "Only demand was measured: nothing loads data in these rows.";
    return verdict;
  }
  verdict = choice(best_first(std::move(all)).front());
  verdict.reason = fmt::format(
      "The loader alone supplies {} images/s there. Nothing was trained (bench --network), so "
      "whether a trainer needs that much is not known.",
      quantity(verdict.rate));
  return verdict;
}

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const Point& best = *std::ranges::max_element(points, {}, &Point::rate);
  return *std::ranges::find_if(points, [&](const Point& point) { return as_good_as(point, best); });
}

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  return is_trained(study) || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

std::string_view name_of(Limit limit) { return words_of(limit).name; }

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
                          best.back().point->threads == point.threads;  // they come by threads
  if (any_format) verdict.answer = loader_threads(point.threads) + ", any of the formats";
  verdict.reason = why(verdict) + equals(best) + others(study, best);
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
