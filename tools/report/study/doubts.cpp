#include "tools/report/study/doubts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/cli/text.h"

namespace feedrate::tools {
namespace {

constexpr double wide_spread_percent = 5;
// Nothing can deliver more than demand, but for what repeats differ by.
constexpr double impossible_share = 1.05;

/// Of the tool whose demand the study's is.
double best_delivered(const Study& study) {
  double best = 0;
  for (const Curve& curve : study.curves) {
    if (!is_own(study, curve)) continue;
    for (const Point& point : curve.delivered) best = std::max(best, point.rate);
  }
  return best;
}

/// Rows that differ in what a trainer computed with and yet are points of one curve.
std::vector<std::string> mixed_computes(const std::vector<Run>& runs) {
  std::map<std::string, std::set<unsigned>> counts;
  for (const Run& run : runs) {
    if (run.kind != delivered_kind || !run.compute_threads) continue;
    counts[fmt::format("{} by {} on {}", *run.network, run.tool, *run.device)].insert(
        *run.compute_threads);
  }
  std::vector<std::string> sentences;
  for (const auto& [trained, threads] : counts) {
    if (threads.size() < 2) continue;
    sentences.push_back(fmt::format("{} computed with {} threads; its curves hold all of them.",
                                    trained, fmt::join(threads, ", ")));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> doubts(const std::vector<Run>& runs, const std::vector<Study>& studies) {
  std::vector<std::string> sentences;
  std::set<std::string> machines, commits, builds, throttles;
  std::size_t throttled = 0;
  std::set<unsigned> too_many;
  std::size_t wide = 0, missing = 0;
  const Run* widest = nullptr;
  for (const Run& run : runs) {
    machines.insert(fmt::format("{}, {} cores, {}", run.environment.cpu, run.environment.cores,
                                run.environment.gpu.value_or("no GPU")));
    commits.insert(run.environment.commit);
    builds.insert(run.environment.build_type);
    if (const auto& held = run.telemetry.gpu_throttle; held && *held != "none") {
      throttles.insert(*held);
      ++throttled;
    }
    const unsigned threads = run.threads.value_or(0);
    if (threads > run.environment.cores) too_many.insert(threads);
    if (run.workers_seen && *run.workers_seen < threads) ++missing;
    if (spread_percent(run) > wide_spread_percent) {
      ++wide;
      if (widest == nullptr || spread_percent(run) > spread_percent(*widest)) widest = &run;
    }
  }
  for (const std::string& build : builds) {
    if (build == "Release" || build == "RelWithDebInfo") continue;
    sentences.push_back(fmt::format("Measured with a {} build: its rates say nothing of a release.",
                                    build.empty() ? "nameless" : build));
  }
  if (!too_many.empty()) {
    sentences.push_back(fmt::format("Rows with up to {} loader threads ran on {}.",
                                    *too_many.rbegin(),
                                    counted(runs.front().environment.cores, "core")));
  }
  if (widest != nullptr) {
    sentences.push_back(fmt::format(
        "{} of {} rows spread by more than {:.0f} % between repeats; the widest, {} {} with {}, by "
        "{:.0f} %. The machine was not quiet.",
        wide, runs.size(), wide_spread_percent, widest->kind, format_and_codec(*widest),
        counted(widest->threads.value_or(0), "thread"), spread_percent(*widest)));
  }
  if (throttled > 0) {
    sentences.push_back(fmt::format("The GPU held its clocks down in {} ({}).",
                                    counted(throttled, "row"), fmt::join(throttles, "; ")));
  }
  for (const Study& study : studies) {
    const double best = best_delivered(study);
    if (!study.demand || best <= study.demand->rate * impossible_share) continue;
    sentences.push_back(fmt::format(
        "{}: up to {} images/s are delivered, more than the {} measured as demand; one of the two "
        "was disturbed.",
        study.title(), quantity(best), quantity(study.demand->rate)));
  }
  for (std::string& mixed : mixed_computes(runs)) sentences.push_back(std::move(mixed));
  if (missing > 0) {
    sentences.push_back(fmt::format("In {} fewer loader threads worked than were asked for.",
                                    counted(missing, "row")));
  }
  if (machines.size() > 1) {
    sentences.push_back(
        fmt::format("The rows come from {} machines; compare within one only.", machines.size()));
  }
  if (commits.size() > 1) {
    sentences.push_back(fmt::format("The rows come from {} commits.", commits.size()));
  }
  return sentences;
}

}  // namespace feedrate::tools
