#include "tools/report/study/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

/// What difference between two points counts as none: the larger of what matters and what the
/// repeats can tell apart.
double tolerance(const Point& a, const Point& b) {
  return std::clamp(std::max(a.spread(), b.spread()), negligible, excusable);
}

bool as_good_as(const Point& point, const Point& best) {
  return point.rate >= best.rate * (1 - tolerance(point, best));
}

const Point& fastest(const std::vector<Point>& points) {
  return *std::max_element(points.begin(), points.end(),
                           [](const Point& a, const Point& b) { return a.rate < b.rate; });
}

struct Candidate {
  const Curve* curve;
  const Point* point;
  double supply;  // at these threads; 0 when not measured
};

double supply_at(const Curve& curve, unsigned threads) {
  const Point* point = at_threads(curve.supply, threads);
  return point == nullptr ? 0 : point->rate;
}

std::vector<Candidate> candidates(const Study& study, std::vector<Point> Curve::*points) {
  std::vector<Candidate> found;
  for (const Curve& curve : study.curves) {
    if ((curve.*points).empty() || !is_own(study, curve)) continue;
    const Point& point = knee(curve.*points);
    found.push_back({&curve, &point, supply_at(curve, point.threads)});
  }
  return found;
}

/// Splits off those as good as the fastest; among them fewer threads win, then more supply.
std::vector<Candidate> best_first(std::vector<Candidate> all) {
  const Candidate top = *std::max_element(
      all.begin(), all.end(),
      [](const Candidate& a, const Candidate& b) { return a.point->rate < b.point->rate; });
  std::erase_if(all, [&](const Candidate& one) { return !as_good_as(*one.point, *top.point); });
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.point->threads != b.point->threads) return a.point->threads < b.point->threads;
    return a.supply > b.supply;
  });
  return all;
}

std::string threads_text(unsigned threads) {
  return threads == 0 ? "no loader threads" : counted(threads, "loader thread");
}

Limit limit_of(const Point& point, const std::optional<Point>& demand) {
  if (point.stall && *point.stall > fed_stall_percent) return Limit::loader;
  if (demand && point.rate < met_share * demand->rate) return Limit::cores;
  return point.stall || demand ? Limit::trainer : Limit::unknown;
}

std::string why(const Verdict& verdict) {
  std::string text = fmt::format("{} images/s are delivered", quantity(verdict.rate));
  if (const auto share = percent_of_demand(verdict)) {
    text +=
        fmt::format(", {:.0f} % of the {} the trainer can take", *share, quantity(*verdict.demand));
  }
  if (verdict.stall) text += fmt::format("; it waits {:.1f} % of its time", *verdict.stall);
  switch (verdict.limit) {
    case Limit::trainer:
      return text + ". The trainer is the limit: faster loading would gain nothing.";
    case Limit::loader:
      return text + ". The loader is the limit: more cores or a cheaper codec would help.";
    case Limit::cores:
      return text + ". Loader and trainer share too few cores: that, not waiting, costs the rest.";
    case Limit::unknown:
      break;
  }
  return text + ".";
}

/// How the other formats compare with the one chosen.
std::string others(const Study& study, const std::vector<Candidate>& best, const Point& chosen) {
  std::string text;
  double widest_difference = 0, widest_spread = chosen.spread();
  std::vector<std::string> equals;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const Point& point = *best[i].point;
    equals.push_back(point.threads == chosen.threads
                         ? best[i].curve->format
                         : fmt::format("{} with {}", best[i].curve->format, point.threads));
    if (chosen.rate > 0) {
      widest_difference =
          std::max(widest_difference, std::abs(point.rate - chosen.rate) / chosen.rate);
    }
    widest_spread = std::max(widest_spread, point.spread());
  }
  if (!equals.empty()) {
    text += fmt::format(" {} do{} as well, within {:.1f} %", fmt::join(equals, " and "),
                        equals.size() == 1 ? "es" : "", 100 * widest_difference);
    text += widest_spread > std::max(negligible, widest_difference)
                ? fmt::format(
                      ", which is less than the {:.1f} % between repeats: these rows cannot "
                      "tell them apart.",
                      100 * widest_spread)
                : ".";
  }
  for (const Curve& curve : study.curves) {
    const bool listed = std::any_of(best.begin(), best.end(),
                                    [&](const Candidate& one) { return one.curve == &curve; });
    if (listed || curve.delivered.empty()) continue;
    const Point& point = knee(curve.delivered);
    text += fmt::format(" {} delivers {} with {}.", curve.format, quantity(point.rate),
                        threads_text(point.threads));
  }
  return text;
}

Verdict judge_supply(const Study& study) {
  const std::vector<Candidate> best = best_first(candidates(study, &Curve::supply));
  const Point& point = *best.front().point;
  Verdict verdict;
  verdict.format = best.front().curve->format;
  verdict.threads = point.threads;
  verdict.rate = point.rate;
  verdict.answer = fmt::format("{}, {}", threads_text(point.threads), verdict.format);
  verdict.reason = fmt::format(
      "The loader alone supplies {} images/s there. Nothing was trained (bench --network), so "
      "whether a trainer needs that much is not known.",
      quantity(point.rate));
  return verdict;
}

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const Point& best = fastest(points);
  return *std::find_if(points.begin(), points.end(),
                       [&](const Point& point) { return as_good_as(point, best); });
}

Band knee_band(const std::vector<Point>& points) {
  const Point& best = fastest(points);
  return {best.rate * (1 - tolerance(knee(points), best)), best.rate};
}

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::trainer:
      return "trainer";
    case Limit::loader:
      return "loader";
    case Limit::cores:
      return "cores";
    case Limit::unknown:
      break;
  }
  return "unknown";
}

Verdict judge(const Study& study) {
  std::vector<Candidate> all = candidates(study, &Curve::delivered);
  if (all.empty()) {
    if (!candidates(study, &Curve::supply).empty()) return judge_supply(study);
    Verdict verdict;
    verdict.answer = "no answer";
    verdict.reason = "Only demand was measured: nothing loads data in these rows.";
    return verdict;
  }
  const std::size_t formats = all.size();
  const std::vector<Candidate> best = best_first(std::move(all));
  const Point& point = *best.front().point;
  Verdict verdict;
  verdict.format = best.front().curve->format;
  verdict.threads = point.threads;
  verdict.rate = point.rate;
  verdict.stall = point.stall;
  if (study.demand) verdict.demand = study.demand->rate;
  verdict.limit = limit_of(point, study.demand);
  bool same_threads = true;
  for (std::size_t i = 1; i < best.size(); ++i) {
    verdict.as_good.push_back(best[i].curve->format);
    same_threads = same_threads && best[i].point->threads == point.threads;
  }
  const bool any_format = formats > 1 && best.size() == formats && same_threads;
  verdict.answer = fmt::format("{}, {}", threads_text(point.threads),
                               any_format ? "any of the formats" : verdict.format);
  verdict.reason = why(verdict) + others(study, best, point);
  return verdict;
}

std::optional<double> percent_of_demand(const Verdict& verdict) {
  if (!verdict.demand || *verdict.demand <= 0) return std::nullopt;
  return 100 * verdict.rate / *verdict.demand;
}

std::string sentence(const Study& study, const Verdict& verdict) {
  return fmt::format("{}: {}. {}", study.title(), verdict.answer, verdict.reason);
}

}  // namespace feedrate::tools
