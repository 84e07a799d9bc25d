#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/console/text.h"
#include "tools/lab/measure/contention.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {
namespace {

constexpr double wide_spread_percent = 5;

using Rows = std::vector<Row>;
using Sentences = std::vector<std::string>;

void doubt_builds(const Rows& rows, Sentences& sentences) {
  std::set<std::string> builds;
  for (const Row& row : rows) builds.insert(row.environment.build_type);
  for (const std::string& build : builds) {
    if (build == "Release" || build == "RelWithDebInfo") continue;
    sentences.push_back(fmt::format("Measured with a {} build; a release build is faster.",
                                    build.empty() ? "untyped" : build));
  }
}

void doubt_threads(const Rows& rows, Sentences& sentences) {
  unsigned max_threads = 0;  // of the rows with more threads than cores
  unsigned cores = 0;        // of the machine with so many threads
  std::string_view worker;   // what these are
  std::size_t missing = 0;
  for (const Row& row : rows) {
    const unsigned threads = row.threads.value_or(0);
    if (threads > row.environment.cores && threads > max_threads) {
      max_threads = threads;
      cores = row.environment.cores;
      worker = worker_of(is_of_script(row), row.tool);
    }
    if (row.workers_seen && *row.workers_seen < threads) ++missing;
  }
  if (max_threads > 0) {
    sentences.push_back(
        fmt::format("Up to {} shared {}.", counted(max_threads, worker), counted(cores, "core")));
  }
  if (missing > 0) {
    sentences.push_back(fmt::format("In {}, some loader threads had nothing to do.",
                                    counted(missing, "measurement")));
  }
}

/// "supply lmdb × raw with 2 threads"; of a trainer alone, "demand"
std::string what(const Row& row) {
  if (!row.threads) return row.kind;
  return fmt::format("{} {} with {}", row.kind, format_and_codec(row),
                     counted(*row.threads, "thread"));
}

void doubt_spread(const Rows& rows, Sentences& sentences) {
  const auto wide = std::ranges::count_if(
      rows, [](const Row& row) { return spread_percent(row) > wide_spread_percent; });
  if (wide == 0) return;
  const Row& widest = *std::ranges::max_element(rows, {}, spread_percent);
  sentences.push_back(fmt::format(
      "Noisy machine: {} of {} measurements varied by more than {:.0f} % (worst: {:.0f} %, {}).",
      wide, rows.size(), wide_spread_percent, spread_percent(widest), what(widest)));
}

void doubt_crowd(const Rows& rows, Sentences& sentences) {
  std::vector<double> ran;
  for (const Row& row : rows) {
    if (const auto share = ran_while_crowded(row)) ran.push_back(*share);
  }
  if (ran.empty()) return;
  const auto [least, most] = std::ranges::minmax(ran);
  sentences.push_back(fmt::format("{} (in {} of supply). On an idle machine loading is faster.",
                                  capitalized(contention_text(least, most)),
                                  counted(ran.size(), "measurement")));
}

void doubt_clocks(const Rows& rows, Sentences& sentences) {
  std::multiset<std::string> throttled;  // the reason, for each row
  for (const Row& row : rows) {
    const std::string reason = row.telemetry.gpu_throttle.value_or("none");
    if (reason != "none") throttled.insert(reason);
  }
  if (throttled.empty()) return;
  const std::set<std::string> reasons(throttled.begin(), throttled.end());
  sentences.push_back(fmt::format("The GPU lowered its clocks in {} ({}).",
                                  counted(throttled.size(), "measurement"),
                                  fmt::join(reasons, "; ")));
}

void doubt_emulation_speed(const std::vector<Study>& studies, Sentences& sentences) {
  constexpr double enough = 0.95;
  for (const Study& study : studies) {
    if (!study.emulated_rate || !study.demand) continue;
    if (study.demand->high >= enough * *study.emulated_rate) continue;
    sentences.push_back(
        fmt::format("This machine was too busy or too small to emulate {} images/s: it reached {}. "
                    "On an idle machine "
                    "more would be delivered.",
                    quantity(*study.emulated_rate), quantity(study.demand->rate)));
  }
}

void doubt_demand(const std::vector<Study>& studies, Sentences& sentences) {
  for (const Study& study : studies) {
    double best = 0;  // of the tool whose demand is the study's
    for (const Curve& curve : study.curves) {
      if (!is_candidate(study, curve)) continue;
      for (const Point& point : curve.delivered) best = std::max(best, point.rate);
    }
    if (!study.demand || best <= study.demand->rate * loader::max_share_of_demand) continue;
    sentences.push_back(
        fmt::format("{}: the trainer was faster with the loader (up to {} images/s) than alone "
                    "({}), so these rates are "
                    "good to about ±{:.0f} %.",
                    study.title(), quantity(best), quantity(study.demand->rate),
                    std::ceil(100 * (best / study.demand->rate - 1))));
  }
}

/// Rows of one curve whose trainers computed with different numbers of threads.
void doubt_compute_threads(const Rows& rows, Sentences& sentences) {
  std::map<std::string, std::set<unsigned>> counts;
  for (const Row& row : rows) {
    if (row.kind != delivered_kind || !row.compute_threads) continue;
    counts[fmt::format("{} by {} on {}", *row.network, row.tool, *row.device)].insert(
        *row.compute_threads);
  }
  for (const auto& [trained, threads] : counts) {
    if (threads.size() < 2) continue;
    sentences.push_back(
        fmt::format("The measurements of {} share one curve but used different numbers of compute "
                    "threads ({}).",
                    trained, fmt::join(threads, ", ")));
  }
}

void doubt_origins(const Rows& rows, Sentences& sentences) {
  std::set<std::string> machines, commits;
  for (const Row& row : rows) {
    machines.insert(machine_of(row));
    commits.insert(row.environment.commit);
  }
  if (machines.size() > 1) {
    sentences.push_back(fmt::format(
        "The measurements come from {} machines. Each is judged on its own.", machines.size()));
  }
  if (commits.size() > 1) {
    sentences.push_back(
        fmt::format("The measurements come from {} commits of Feedrate.", commits.size()));
  }
}

void doubt_emulations(const Rows& rows, Sentences& sentences) {
  std::set<std::pair<std::string, std::string>> emulated;  // a device for a network, and its rate
  for (const Row& row : rows) {
    if (row.emulates) emulated.emplace(*row.network + " on " + *row.device, *row.emulates);
  }
  for (const auto& [trainer, rate] : emulated) {
    sentences.push_back(
        fmt::format("No trainer ran for {}: a thread consumed batches at {}.", trainer, rate));
  }
}

}  // namespace

std::vector<std::string> doubts(const Rows& rows, const std::vector<Study>& studies) {
  Sentences sentences;
  doubt_builds(rows, sentences);
  doubt_emulations(rows, sentences);
  doubt_threads(rows, sentences);
  doubt_spread(rows, sentences);
  doubt_crowd(rows, sentences);
  doubt_clocks(rows, sentences);
  doubt_demand(studies, sentences);
  doubt_emulation_speed(studies, sentences);
  doubt_compute_threads(rows, sentences);
  doubt_origins(rows, sentences);
  return sentences;
}

}  // namespace feedrate::tools
