#include "tools/lab/report/study/study_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/console/text.h"
#include "tools/lab/measure/verdict_text.h"
#include "tools/lab/report/study/verdict_doubts.h"

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

/// Whether the rounds carry that the first is slower.
bool is_slower(const Point& point, const Point& than, const Compared& among) {
  return point.rate < than.rate &&
         difference(than, point, among).outcome == Difference::Outcome::apart;
}

/// Those that are as fast as the fastest: fewer threads first, then more supply.
std::vector<Candidate> best_first(const std::vector<Candidate>& candidates) {
  const Candidate top = *std::ranges::max_element(
      candidates, {}, [](const Candidate& one) { return one.point->rate; });
  std::vector<const Point*> points;
  for (const Candidate& one : candidates) points.push_back(one.point);
  const Compared among = compared(points);
  std::vector<Candidate> all = candidates;
  std::erase_if(all, [&](const Candidate& one) {
    return !as_fast_as(one.point->as_rate(), top.point->as_rate()) ||
           std::ranges::any_of(candidates, [&](const Candidate& other) {
             return is_slower(*one.point, *other.point, among);
           });
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

loader::Figures figures_of(const Study& study, const Curve& curve, const Point& point) {
  loader::Figures figures{.consumer = study.is_of_script() ? "loop" : loader::Figures{}.consumer,
                          .worker = worker_of(study, curve),
                          .supply = rate_of(at_threads(curve.supply, point.threads)),
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
  if (curve.demand) {
    const double spread = paired_spread(*curve.demand, point);
    figures.demand->spread = figures.delivered->spread = spread;
  }
  return figures;
}

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// What the rounds tell of the formats beside the chosen one.
struct Others {
  std::vector<std::string> equal;   // with their threads where these differ
  std::vector<std::string> slower;  // or faster, if they may not be chosen
  std::vector<std::string> open;    // one or the other
  std::size_t repeats = 0;          // that would decide about all of them, about
};

std::string with_threads(const std::string& text, const Point& point, const Point& chosen,
                         std::string_view worker) {
  return point.threads == chosen.threads ? text
                                         : text + " with " + loader_threads(point.threads, worker);
}

/// "--repeat 9", or what does the same for a script.
std::string rounds_text(const Study& study, std::size_t rounds) {
  return study.is_of_script() ? fmt::format("diagnosing {} times", rounds)
                              : fmt::format("--repeat {}", rounds);
}

/// Whether so many decide, and are not just the most that are considered.
bool rounds_known(std::size_t rounds) { return rounds < max_repeats; }

/// "about --repeat 9"
std::string more_rounds(const Study& study, std::size_t rounds) {
  return (rounds_known(rounds) ? "about " : "more than ") + rounds_text(study, rounds);
}

/// "15 % slower"
std::string apart_text(double percent) {
  if (std::abs(percent) < 0.5) return "less than 1 % apart";
  return fmt::format("{:.0f} % {}", std::abs(percent), percent < 0 ? "slower" : "faster");
}

Others others_of(const Study& study, std::vector<Point> Curve::*points, const Candidate& best,
                 StudyVerdict& verdict) {
  using Outcome = Difference::Outcome;
  const Point& chosen = *best.point;
  std::vector<const Point*> knees;
  for (const Curve& curve : study.curves) {
    if (!(curve.*points).empty()) knees.push_back(&knee(curve.*points));
  }
  const Compared among = compared(knees);
  Others others;
  for (const Curve& curve : study.curves) {
    if (&curve == best.curve || (curve.*points).empty() || chosen.rate <= 0) continue;
    const Point& point = knee(curve.*points);
    const Difference found = difference(chosen, point, among);
    if (found.outcome == Outcome::none) {
      others.equal.push_back(with_threads(curve.format, point, chosen, worker_of(study, curve)));
      if (is_candidate(study, curve)) verdict.as_good.push_back(curve.format);
      continue;
    }
    const double percent = 100 * (point.rate / chosen.rate - 1);
    const bool is_open = found.outcome == Outcome::open;
    (is_open ? others.open : others.slower)
        .push_back(with_threads(curve.format + " " + apart_text(percent), point, chosen,
                                worker_of(study, curve)));
    if (!is_open) continue;
    others.repeats = std::max(others.repeats, found.repeats);
    verdict.undecided = true;
    if (is_candidate(study, curve)) verdict.open_formats.push_back(curve.format);
  }
  return others;
}

std::string others_sentences(const Study& study, const Others& others) {
  std::string text;
  if (!others.slower.empty()) text = fmt::format(" Beside it: {}.", fmt::join(others.slower, ", "));
  if (others.open.empty()) return text;
  return text + fmt::format(" Not beyond the noise of the rounds: {}; {} would tell.",
                            fmt::join(others.open, ", "), more_rounds(study, others.repeats));
}

/// How the answer ends: what the rounds tell of the formats.
std::string formats_clause(const Study& study, const StudyVerdict& verdict, const Others& others,
                           std::size_t candidates) {
  if (candidates == 1) return study.is_of_script() ? "" : " with " + verdict.format;
  if (!verdict.open_formats.empty()) {
    return fmt::format(" with {}; which format is best, the rounds do not tell ({})",
                       verdict.format, more_rounds(study, others.repeats));
  }
  if (verdict.as_good.empty()) return "; best format: " + verdict.format;
  const bool equal_threads = others.equal == verdict.as_good;
  if (verdict.as_good.size() + 1 == candidates && equal_threads) return "; any format will do";
  return fmt::format(" with {}; as fast, within the noise: {}", verdict.format,
                     listed(others.equal));
}

/// How it begins: what they tell of the threads.
std::string threads_clause(const StudyVerdict& verdict, unsigned fewest, std::string_view worker) {
  const bool is_fed = verdict.limit == Limit::trainer && verdict.other_limits.empty();
  std::string text = is_fed ? enough_threads_text(verdict.threads, worker)
                            : fmt::format("Use {}", loader_threads(verdict.threads, worker));
  if (fewest < verdict.threads) text += fmt::format(" ({} may do)", fewest);
  return text;
}

/// Of a script that ran with one number of workers only, nothing tells which is best but its cause.
bool is_only_run(const Study& study, const StudyVerdict& verdict, const Curve& curve,
                 std::size_t candidates) {
  return study.is_of_script() && candidates == 1 && curve.delivered.size() == 1 &&
         verdict.limit != Limit::trainer;
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
  const std::vector<Candidate> all = candidates(study, &Curve::supply);
  if (all.empty()) {
    verdict.answer = "No answer";
    verdict.finding = "Only demand was measured; no row loads data.";
    return verdict;
  }
  const Candidate best = best_first(all).front();
  verdict = choice(best);
  verdict.few_rounds = best.point->repeats.size() < min_rounds;
  const Others others = others_of(study, &Curve::supply, best, verdict);
  verdict.answer = threads_clause(verdict, fewest_threads(best.curve->supply, *best.point),
                                  worker_of(study, *best.curve)) +
                   formats_clause(study, verdict, others, all.size());
  verdict.finding = fmt::format("The loader alone supplies {} images/s.", quantity(verdict.rate));
  verdict.details =
      " Nothing was trained, so it is unknown how many a trainer can take (measure it with 'bench "
      "--network')." +
      others_sentences(study, others);
  return verdict;
}

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const Point& best = *std::ranges::max_element(points, {}, &Point::rate);
  const Compared among = compared(pointers(points));
  return *std::ranges::find_if(points, [&](const Point& point) {
    return as_fast_as(point.as_rate(), best.as_rate()) && !is_slower(point, best, among);
  });
}

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  const bool is_trained =
      std::ranges::any_of(study.curves, [](const Curve& one) { return !one.delivered.empty(); });
  return is_trained || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

namespace {

/// Where not even the fastest round drives an emulated device as fast as it is.
std::string slow_emulation(const Study& study, const Curve& curve) {
  constexpr double enough = 0.95;
  if (!study.emulated_rate || !curve.demand) return {};
  if (curve.demand->high >= enough * *study.emulated_rate) return {};
  return fmt::format(
      " This machine drives the emulated device at {} of its {} images/s, and that is what it can "
      "take "
      "here.",
      quantity(curve.demand->rate), quantity(*study.emulated_rate));
}

/// What 'feedrate diagnose' said of a script; of several runs, with the number of workers of each.
std::string causes_text(const Study& study) {
  std::vector<std::string> causes, with_workers;
  for (const Curve& curve : study.curves) {
    for (const Point& point : curve.delivered) {
      if (!point.cause) continue;
      causes.push_back(" " + *point.cause);
      with_workers.push_back(fmt::format(
          " With {}: {}", loader_threads(point.threads, worker_of(study, curve)), *point.cause));
    }
  }
  return fmt::format("{}", fmt::join(causes.size() > 1 ? with_workers : causes, ""));
}

/// A stage that the cause of a script's waiting names better.
loader::Verdict without_stage(loader::Verdict found, const Point& point) {
  using enum loader::Limit;
  const bool is_stage = found.limit == read || found.limit == decode || found.limit == augment;
  if (point.cause && is_stage) found.limit = loader;
  return found;
}

}  // namespace

StudyVerdict judge(const Study& study) {
  const std::vector<Candidate> all = candidates(study, &Curve::delivered);
  if (all.empty()) return judge_supply(study);
  const Candidate best = best_first(all).front();
  const auto& [curve, point, supply] = best;
  StudyVerdict verdict = choice(best);
  verdict.stall = point->stall;
  if (curve->demand) verdict.demand = curve->demand->rate;
  const loader::Verdict found = judge(figures_of(study, *curve, *point));
  const OtherLimits limits = other_limits(found, *curve, *point);
  verdict.limit = found.limit;
  verdict.other_limits = limits.limits;
  verdict.few_rounds = point->repeats.size() < min_rounds;
  const Others others = others_of(study, &Curve::delivered, best, verdict);
  verdict.finding = finding_text(without_stage(found, *point), verdict.other_limits);
  const std::string_view worker = worker_of(study, *curve);
  verdict.answer = is_only_run(study, verdict, *curve, all.size())
                       ? fmt::format("It ran with {}", loader_threads(verdict.threads, worker))
                       : threads_clause(verdict, fewest_threads(curve->delivered, *point), worker) +
                             formats_clause(study, verdict, others, all.size());
  const bool all_open = all.size() > 1 && verdict.open_formats.size() + 1 == all.size();
  if (verdict.few_rounds) {
    verdict.details = fmt::format(" Fewer than {} rounds tell nothing of the noise; {} would.",
                                  min_rounds, rounds_text(study, min_rounds));
  } else if (!limits.limits.empty()) {
    verdict.details =
        fmt::format(" {} would tell{}.", capitalized(more_rounds(study, limits.repeats)),
                    study.is_of_script() ? "" : ", or --decide");
    if (all_open) {
      verdict.answer = fmt::format("Nothing can be told: the rounds differ too much ({})",
                                   more_rounds(study, std::max(limits.repeats, others.repeats)));
    }
  } else if (found.limit != Limit::trainer) {
    const std::string advice = advice_text(found);
    if (!advice.empty()) verdict.details = " " + advice;
  }
  verdict.details = causes_text(study) + verdict.details + others_sentences(study, others) +
                    slow_emulation(study, *curve);
  return verdict;
}

std::string limit_names(const StudyVerdict& verdict) {
  return tools::limit_names(verdict.limit, verdict.other_limits);
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
