#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/console/text.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {
namespace {

constexpr double wide_spread_percent = 5;
// Delivered cannot exceed demand by more than the noise between repeats.
constexpr double max_share_of_demand = 1.05;

using Runs = std::vector<Run>;
using Sentences = std::vector<std::string>;

void doubt_builds(const Runs& runs, Sentences& sentences) {
  std::set<std::string> builds;
  for (const Run& run : runs) builds.insert(run.environment.build_type);
  for (const std::string& build : builds) {
    if (build == "Release" || build == "RelWithDebInfo") continue;
    sentences.push_back(fmt::format("Measured with a {} build: a release build has other rates.",
                                    build.empty() ? "untyped" : build));
  }
}

void doubt_threads(const Runs& runs, Sentences& sentences) {
  unsigned max_threads = 0;  // of the rows with more threads than cores
  unsigned cores = 0;        // of the machine with so many threads
  std::size_t missing = 0;
  for (const Run& run : runs) {
    const unsigned threads = run.threads.value_or(0);
    if (threads > run.environment.cores && threads > max_threads) {
      max_threads = threads;
      cores = run.environment.cores;
    }
    if (run.workers_seen && *run.workers_seen < threads) ++missing;
  }
  if (max_threads > 0) {
    sentences.push_back(fmt::format("Rows with up to {} loader threads ran on {}.", max_threads,
                                    counted(cores, "core")));
  }
  if (missing > 0) {
    sentences.push_back(
        fmt::format("In {}, fewer loader threads worked than requested.", counted(missing, "row")));
  }
}

/// "supply lmdb × raw with 2 threads"; of a trainer alone, "demand"
std::string what(const Run& run) {
  if (!run.threads) return run.kind;
  return fmt::format("{} {} with {}", run.kind, format_and_codec(run),
                     counted(*run.threads, "thread"));
}

void doubt_spread(const Runs& runs, Sentences& sentences) {
  const auto wide = std::ranges::count_if(
      runs, [](const Run& run) { return spread_percent(run) > wide_spread_percent; });
  if (wide == 0) return;
  const Run& widest = *std::ranges::max_element(runs, {}, spread_percent);
  sentences.push_back(fmt::format(
      "In {} of {} rows the repeats differ by more than {:.0f} %, at most by {:.0f} % ({}): the "
      "machine was not quiet.",
      wide, runs.size(), wide_spread_percent, spread_percent(widest), what(widest)));
}

void doubt_clocks(const Runs& runs, Sentences& sentences) {
  std::multiset<std::string> throttled;  // the reason, for each row
  for (const Run& run : runs) {
    const std::string reason = run.telemetry.gpu_throttle.value_or("none");
    if (reason != "none") throttled.insert(reason);
  }
  if (throttled.empty()) return;
  const std::set<std::string> reasons(throttled.begin(), throttled.end());
  sentences.push_back(fmt::format("The GPU lowered its clocks in {} ({}).",
                                  counted(throttled.size(), "row"), fmt::join(reasons, "; ")));
}

void doubt_demand(const std::vector<Study>& studies, Sentences& sentences) {
  for (const Study& study : studies) {
    double best = 0;  // of the tool whose demand is the study's
    for (const Curve& curve : study.curves) {
      if (!is_candidate(study, curve)) continue;
      for (const Point& point : curve.delivered) best = std::max(best, point.rate);
    }
    if (!study.demand || best <= study.demand->rate * max_share_of_demand) continue;
    sentences.push_back(fmt::format(
        "{}: delivered, up to {} images/s, exceeds demand, {}; one of the two measurements was "
        "disturbed.",
        study.title(), quantity(best), quantity(study.demand->rate)));
  }
}

/// Rows of one curve whose trainers computed with different numbers of threads.
void doubt_compute_threads(const Runs& runs, Sentences& sentences) {
  std::map<std::string, std::set<unsigned>> counts;
  for (const Run& run : runs) {
    if (run.kind != delivered_kind || !run.compute_threads) continue;
    counts[fmt::format("{} by {} on {}", *run.network, run.tool, *run.device)].insert(
        *run.compute_threads);
  }
  for (const auto& [trained, threads] : counts) {
    if (threads.size() < 2) continue;
    sentences.push_back(
        fmt::format("The rows of {} differ in compute threads ({}), yet share one curve.", trained,
                    fmt::join(threads, ", ")));
  }
}

void doubt_origins(const Runs& runs, Sentences& sentences) {
  std::set<std::string> machines, commits;
  for (const Run& run : runs) {
    machines.insert(machine_of(run));
    commits.insert(run.environment.commit);
  }
  if (machines.size() > 1) {
    sentences.push_back(fmt::format("The rows come from {} machines; each has studies of its own.",
                                    machines.size()));
  }
  if (commits.size() > 1) {
    sentences.push_back(fmt::format("The rows come from {} commits.", commits.size()));
  }
}

}  // namespace

std::vector<std::string> doubts(const Runs& runs, const std::vector<Study>& studies) {
  Sentences sentences;
  doubt_builds(runs, sentences);
  doubt_threads(runs, sentences);
  doubt_spread(runs, sentences);
  doubt_clocks(runs, sentences);
  doubt_demand(studies, sentences);
  doubt_compute_threads(runs, sentences);
  doubt_origins(runs, sentences);
  return sentences;
}

}  // namespace feedrate::tools
