#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/console/text.h"
#include "tools/lab/measure/verdict_text.h"
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
    sentences.push_back(fmt::format("Measured with a {} build: a release build has other rates.",
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
    sentences.push_back(fmt::format("Rows with up to {} ran on {}.", counted(max_threads, worker),
                                    counted(cores, "core")));
  }
  if (missing > 0) {
    sentences.push_back(
        fmt::format("In {}, fewer loader threads worked than requested.", counted(missing, "row")));
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
      "In {} of {} rows the repeats differ by more than {:.0f} %, at most by {:.0f} % ({}): the "
      "machine was not quiet.",
      wide, rows.size(), wide_spread_percent, spread_percent(widest), what(widest)));
}

void doubt_crowd(const Rows& rows, Sentences& sentences) {
  std::vector<double> ran;
  for (const Row& row : rows) {
    if (const auto share = ran_while_crowded(row)) ran.push_back(*share);
  }
  if (ran.empty()) return;
  const auto [least, most] = std::ranges::minmax(ran);
  const std::string where = "in " + counted(ran.size(), "row") + " of supply, ";
  sentences.push_back(capitalized(crowd_text(where, least, most)) +
                      ". Alone it is faster, and fewer cores feed a device.");
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
                                  counted(throttled.size(), "row"), fmt::join(reasons, "; ")));
}

void doubt_demand(const std::vector<Study>& studies, Sentences& sentences) {
  for (const Study& study : studies) {
    double best = 0;  // of the tool whose demand is the study's
    for (const Curve& curve : study.curves) {
      if (!is_candidate(study, curve)) continue;
      for (const Point& point : curve.delivered) best = std::max(best, point.rate);
    }
    if (!study.demand || best <= study.demand->rate * loader::max_share_of_demand) continue;
    sentences.push_back(fmt::format(
        "{}: delivered, up to {} images/s, exceeds demand, {}; one of the two measurements was "
        "disturbed.",
        study.title(), quantity(best), quantity(study.demand->rate)));
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
        fmt::format("The rows of {} differ in compute threads ({}), yet share one curve.", trained,
                    fmt::join(threads, ", ")));
  }
}

void doubt_origins(const Rows& rows, Sentences& sentences) {
  std::set<std::string> machines, commits;
  for (const Row& row : rows) {
    machines.insert(machine_of(row));
    commits.insert(row.environment.commit);
  }
  if (machines.size() > 1) {
    sentences.push_back(fmt::format("The rows come from {} machines; each has studies of its own.",
                                    machines.size()));
  }
  if (commits.size() > 1) {
    sentences.push_back(fmt::format("The rows come from {} commits.", commits.size()));
  }
}

void doubt_emulations(const Rows& rows, Sentences& sentences) {
  std::set<std::pair<std::string, std::string>> emulated;  // a device for a network, and its rate
  for (const Row& row : rows) {
    if (row.emulates) emulated.emplace(*row.network + " on " + *row.device, *row.emulates);
  }
  for (const auto& [trainer, rate] : emulated) {
    sentences.push_back(
        fmt::format("{} was not trained: a thread took batches at its pace, {}.", trainer, rate));
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
  doubt_compute_threads(rows, sentences);
  doubt_origins(rows, sentences);
  return sentences;
}

}  // namespace feedrate::tools
