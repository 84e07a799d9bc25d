#include "tools/lab/report/study/study_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tools/console/text.h"
#include "tools/lab/measure/contention.h"
#include "tools/lab/measure/verdict_text.h"
#include "tools/lab/report/study/choice.h"
#include "tools/lab/report/study/verdict_doubts.h"

namespace feedrate::tools {
using namespace formats;
using loader::Limit;

namespace {

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// "15 % slower"
std::string apart_text(double percent) {
  if (std::abs(percent) < 0.5) return "less than 1 % apart";
  return fmt::format("{:.0f} % {}", std::abs(percent), percent < 0 ? "slower" : "faster");
}

/// "pytorch · lmdb × raw 30 % slower with 4 workers": formats beside the chosen one, as measured.
std::string compared_text(const Study& study, const Choice& best, std::vector<Point> Curve::*points,
                          const std::vector<std::string>& already_told) {
  std::vector<std::string> others;
  for (const Curve& curve : study.curves) {
    if (&curve == best.curve || (curve.*points).empty() || best.point->rate <= 0) continue;
    if (std::ranges::find(already_told, curve.format) != already_told.end()) continue;
    const Point& point = knee(curve.*points);
    std::string text = curve.format + " " + apart_text(100 * (point.rate / best.point->rate - 1));
    if (point.threads != best.point->threads) {
      text += " with " + loader_threads(point.threads, worker_of(study, curve));
    }
    others.push_back(std::move(text));
  }
  return others.empty() ? "" : fmt::format(" For comparison: {}.", fmt::join(others, ", "));
}

StudyVerdict verdict_at(const Choice& chosen) {
  StudyVerdict verdict;
  verdict.format = chosen.curve->format;
  verdict.threads = verdict.measured_threads = chosen.point->threads;
  verdict.rate = chosen.point->rate;
  return verdict;
}

/// "2 loader threads", "0 to 2 loader threads"
std::string threads_range(const std::vector<Choice>& all, std::string_view worker) {
  const auto threads = [](const Choice& one) { return one.point->threads; };
  const auto [low, high] = std::ranges::minmax(all, {}, threads);
  if (threads(low) == threads(high)) return loader_threads(threads(low), worker);
  return fmt::format("{} {} {}", threads(low), threads(high) == threads(low) + 1 ? "or" : "to",
                     counted(threads(high), worker));
}

/// "an emulated h100", "2,500 images/s", "lenet"
std::string trainer_text(const Study& study) {
  if (!study.emulated_rate) return study.network;
  constexpr std::string_view prefix = "emulated ";
  const std::string name =
      study.device.starts_with(prefix) ? study.device.substr(prefix.size()) : study.device;
  const bool is_rate = !name.empty() && name.front() >= '0' && name.front() <= '9';
  return is_rate ? quantity(*study.emulated_rate) + " images/s" : "an emulated " + name;
}

/// Loading costs little with at least one format.
void tell_fed(const Study& study, const std::vector<Choice>& all, StudyVerdict& verdict,
              const Choice& best) {
  std::vector<Choice> fed;
  std::vector<std::string> others, unfed;
  for (const Choice& one : all) {
    if (one.is_fed()) {
      fed.push_back(one);
      if (one.curve == best.curve) continue;
      verdict.as_good.push_back(one.curve->format);
      others.push_back(one.curve->format);
      if (one.point->threads != best.point->threads) {
        others.back() +=
            " with " + loader_threads(one.point->threads, worker_of(study, *one.curve));
      }
    } else {
      unfed.push_back(fmt::format("{} loses {:.0f} %", one.curve->format, 100 * one.loss()));
    }
  }
  const std::string_view worker = worker_of(study, *best.curve);
  const auto [least, most] = std::ranges::minmax(fed, {}, &Choice::loss);
  if (fed.size() == all.size() && fed.size() > 1) {
    verdict.answer =
        fmt::format("Loading is not the bottleneck: any of the {} formats keeps {} busy with {}",
                    fed.size(), trainer_text(study), threads_range(fed, worker));
    verdict.finding =
        share_text(least.loss()) == share_text(most.loss())
            ? fmt::format("Loading costs {} of training time.", share_text(least.loss()))
            : fmt::format("Loading costs {} ({}) to {} ({}) of training time.",
                          share_text(least.loss()), least.curve->format, share_text(most.loss()),
                          most.curve->format);
  } else {
    verdict.answer = enough_threads_text(verdict.threads, worker);
    if (!study.is_of_script() || all.size() > 1) verdict.answer += " with " + verdict.format;
    verdict.finding = fmt::format("The trainer is the limit: loading costs {} of training time.",
                                  share_text(best.loss()));
    if (!others.empty())
      verdict.details += fmt::format(" {} will do, too.", capitalized(listed(others)));
    if (!unfed.empty())
      verdict.details += fmt::format(" {} of full speed.", fmt::join(unfed, ", "));
  }
  if (verdict.limit == Limit::upload) verdict.details += " " + finding_text(best.found);
}

/// "2 (1 to 3)", "2"
std::string cores_text(const Need& need) {
  const Range& cores = need.cores;
  return tools::cores_text(whole_cores(cores.likely), whole_cores(cores.low),
                           known_cores(cores.high));
}

std::vector<NeededCores> needed_cores(const std::vector<Choice>& all) {
  std::vector<NeededCores> needed;
  for (const Choice& one : all) {
    if (one.need) needed.push_back({one.need->cores.likely, one.curve->format});
  }
  return needed;
}

/// That other programs had the cores.
std::string contended_text(const Curve& curve) {
  double least = 1, most = 0;
  for (const Point& point : curve.supply) {
    if (!point.ran) continue;
    least = std::min(least, *point.ran);
    most = std::max(most, *point.ran);
  }
  return " " + capitalized(contention_text(least, most)) +
         ". The number of cores therefore follows from CPU time per image.";
}

/// Formats beside the chosen one that do as well, or that cannot be ranked.
void rank_others(const std::vector<Choice>& all, const Choice& best, StudyVerdict& verdict) {
  const Compared among = compared(points_of(all));
  for (const Choice& one : all) {
    if (one.curve == best.curve) continue;
    const Order found = order(best, one, among);
    if (found == Order::equal) verdict.as_good.push_back(one.curve->format);
    if (found == Order::open) verdict.too_close.push_back(one.curve->format);
  }
}

/// "Decoding is the limit: 62 % of loading time." The trainer's speed is told elsewhere.
std::string stage_text(const loader::Verdict& found) {
  const loader::Figures& figures = found.figures;
  const double busy = figures.read + figures.decode + figures.augment;
  const bool is_decode = found.limit == Limit::decode;
  if ((!is_decode && found.limit != Limit::augment) || busy <= 0) return finding_text(found);
  return fmt::format("{} is the limit: {:.0f} % of loading time.",
                     is_decode ? "Decoding" : "Augmentation",
                     100 * (is_decode ? figures.decode : figures.augment) / busy);
}

/// Loading costs more than it may with every format.
void tell_unfed(const Study& study, const std::vector<Choice>& all, StudyVerdict& verdict,
                const Choice& best) {
  rank_others(all, best, verdict);
  const std::string_view worker = worker_of(study, *best.curve);
  const loader::Figures& figures = best.found.figures;
  const double reached = best.found.demand ? verdict.rate / best.found.demand->value : 0;
  const unsigned most_tried = figures.most_threads;
  const unsigned free =
      figures.cores > figures.computing ? figures.cores - figures.computing : figures.cores;
  const unsigned needed = best.need ? whole_cores(best.need->cores.likely) : 0;
  verdict.contended = best.is_contended();
  if (best.need) verdict.cores = best.need->cores;
  const std::string whom =
      study.emulated_rate ? trainer_text(study) : trainer_text(study) + "'s full speed";
  if (needed > most_tried && needed <= free && study.device != "cpu") {
    verdict.threads = needed;
    verdict.answer = fmt::format("Use about {} with {}", counted(needed, worker), verdict.format);
    verdict.finding = fmt::format("{}, the most tried, {} {:.0f} % of {}.",
                                  capitalized(loader_threads(most_tried, worker)),
                                  most_tried == 1 ? "reaches" : "reach", 100 * reached, whom);
  } else if (study.device == "cpu" && best.found.limit == Limit::cores) {
    verdict.cores.reset();
    verdict.answer = fmt::format(
        "Use {} with {}: {} runs at {:.0f} % of full speed, because loading takes its cores",
        loader_threads(verdict.threads, worker), verdict.format, study.network, 100 * reached);
  } else if (best.need) {
    verdict.threads = std::max(verdict.threads, std::min(needed, figures.cores));
    verdict.answer = unfed_text(reached, whom, needed_cores(all));
    verdict.answer.pop_back();  // the last full stop
    const std::string range = cores_text(*best.need);
    if (range.find(' ') != std::string::npos) {
      verdict.finding = fmt::format("The range with {} is {} cores.", best.curve->format, range);
    }
  } else {
    verdict.answer = fmt::format("{} with {}: {:.0f} % of {}",
                                 capitalized(loader_threads(verdict.threads, worker)),
                                 verdict.format, 100 * reached, whom);
  }
  const std::string limit = best.need ? stage_text(best.found) : finding_text(best.found);
  verdict.finding += (verdict.finding.empty() ? "" : " ") + limit;
  if (const std::string advice = advice_text(best.found); !advice.empty()) {
    verdict.details += " " + advice;
  }
  if (verdict.contended) verdict.details += contended_text(*best.curve);
  std::vector<std::string> close = verdict.too_close;
  if (!close.empty()) {
    close.insert(close.begin(), best.curve->format);
    verdict.details += fmt::format(" {} are too close to rank (± {:.0f} %).", listed(close),
                                   100 * max_cores_doubt);
  }
}

StudyVerdict judge_supply(const Study& study) {
  StudyVerdict verdict;
  const std::vector<Choice> all = supply_choices(study);
  if (all.empty()) {
    verdict.answer = "No answer";
    verdict.finding = "Only demand was measured; no row loads data.";
    return verdict;
  }
  const Choice best = best_of(all);
  verdict = verdict_at(best);
  verdict.undecided = best.point->repeats.size() < min_rounds;
  rank_others(all, best, verdict);
  verdict.answer = fmt::format(
      "{} with {} {} {} images/s",
      capitalized(loader_threads(verdict.threads, worker_of(study, *best.curve))), verdict.format,
      verdict.threads == 1 ? "supplies" : "supply", quantity(verdict.rate));
  verdict.finding = "Nothing was trained: 'bench --network' measures what a trainer takes.";
  verdict.details = compared_text(study, best, &Curve::supply, {});
  return verdict;
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
  std::vector<Choice> all = choices(study);
  if (all.empty()) return judge_supply(study);
  for (Choice& one : all) one.found = without_stage(one.found, *one.point);
  std::vector<Choice> fed = all;
  std::erase_if(fed, [](const Choice& one) { return !one.is_fed(); });
  const Choice best =
      fed.empty() ? best_of(all) : *std::ranges::min_element(fed, {}, [](const Choice& one) {
        return std::tuple(one.point->threads, one.loss(), -one.supply);
      });
  StudyVerdict verdict = verdict_at(best);
  verdict.stall = best.point->stall;
  verdict.limit = best.found.limit;
  if (best.found.loss) verdict.loss = 100 * *best.found.loss;
  if (const auto demand = demand_of(study, *best.curve)) verdict.demand = demand->value;
  if (fed.empty()) {
    tell_unfed(study, all, verdict, best);
  } else {
    tell_fed(study, all, verdict, best);
  }
  // Repeats only help where they may tell formats apart, or where there are none.
  verdict.undecided =
      best.point->repeats.size() < min_rounds || (!verdict.too_close.empty() && !verdict.contended);
  std::vector<std::string> told;
  for (const Choice& one : all) told.push_back(one.curve->format);
  verdict.details = causes_text(study) + verdict.details +
                    compared_text(study, best, &Curve::delivered,
                                  fed.empty() ? std::vector<std::string>{} : told);
  return verdict;
}

std::optional<double> percent_of_demand(const StudyVerdict& verdict) {
  if (!verdict.demand || *verdict.demand <= 0) return std::nullopt;
  return 100 * verdict.rate / *verdict.demand;
}

std::string sentence(const Study& study, const StudyVerdict& verdict) {
  return fmt::format("{}: {}. {}{}", study.title(), verdict.answer, verdict.finding,
                     verdict.details);
}

}  // namespace feedrate::tools
