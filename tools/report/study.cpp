#include "tools/report/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "formats/error.h"
#include "tools/text.h"

namespace feedrate {
namespace {

constexpr double wide_spread_percent = 5;
// Nothing can deliver more than demand, but for what repeats differ by.
constexpr double impossible_share = 1.05;

void refuse_mixed_digests(const std::vector<Run>& runs) {
  const Run& first = runs.front();
  for (const Run& run : runs) {
    if (run.digest == first.digest) continue;
    throw Error(fmt::format(
        "the rows hold different images, so their rates do not compare: {} has digest {:.12}…, {} "
        "has {:.12}…",
        first.dataset, first.digest, run.dataset, run.digest));
  }
}

/// Rows of the same point, possibly of several benches, as one.
Point pool(const std::vector<const Run*>& runs) {
  std::vector<double> rates, stalls;
  Point point{.threads = runs.front()->threads.value_or(0), .stall = {}, .workers_seen = {}};
  for (const Run* run : runs) {
    rates.insert(rates.end(), run->repeats.begin(), run->repeats.end());
    if (run->stall_percent) stalls.push_back(*run->stall_percent);
    point.workers_seen = run->workers_seen;
  }
  point.rate = median(rates);
  point.low = *std::min_element(rates.begin(), rates.end());
  point.high = *std::max_element(rates.begin(), rates.end());
  if (!stalls.empty()) point.stall = median(stalls);
  return point;
}

template <class Belongs>
std::vector<Point> points(const std::vector<Run>& runs, const Belongs& belongs) {
  std::map<unsigned, std::vector<const Run*>> by_threads;
  for (const Run& run : runs) {
    if (belongs(run)) by_threads[run.threads.value_or(0)].push_back(&run);
  }
  std::vector<Point> result;
  for (const auto& [threads, rows] : by_threads) result.push_back(pool(rows));
  return result;
}

/// The studies that the rows speak of, still without points.
std::vector<Study> outlines(const std::vector<Run>& runs) {
  std::vector<Study> studies;
  const auto add = [&](Study study) {
    const auto same = [&](const Study& other) {
      return std::tie(study.network, study.device, study.precision, study.recipe, study.batch) ==
             std::tie(other.network, other.device, other.precision, other.recipe, other.batch);
    };
    if (std::none_of(studies.begin(), studies.end(), same)) studies.push_back(std::move(study));
  };
  for (const Run& run : runs) {
    if (!run.network) continue;
    Study study;
    study.network = *run.network;
    study.device = run.device.value_or("");
    study.precision = run.precision.value_or("");
    study.recipe = run.recipe;
    study.batch = run.batch;
    add(std::move(study));
  }
  // Supply that no trained network shares its recipe and batch with stands alone.
  for (const Run& run : runs) {
    const bool covered = std::any_of(studies.begin(), studies.end(), [&](const Study& study) {
      return study.recipe == run.recipe && study.batch == run.batch;
    });
    if (covered) continue;
    Study study;
    study.recipe = run.recipe;
    study.batch = run.batch;
    add(std::move(study));
  }
  return studies;
}

double best_delivered(const Study& study) {
  double best = 0;
  for (const Curve& curve : study.curves) {
    for (const Point& point : curve.delivered) best = std::max(best, point.rate);
  }
  return best;
}

}  // namespace

std::string Study::title() const {
  if (network.empty()) return fmt::format("the loader alone, batch {}", batch);
  return fmt::format("{} on {}, {}, batch {}", network, device, precision, batch);
}

std::vector<Study> make_studies(const std::vector<Run>& runs) {
  refuse_mixed_digests(runs);
  std::vector<Study> studies = outlines(runs);
  for (Study& study : studies) {
    const auto same_batch = [&](const Run& run) {
      return run.recipe == study.recipe && run.batch == study.batch;
    };
    const auto same_training = [&](const Run& run) {
      return same_batch(run) && run.network == study.network && run.device == study.device &&
             run.precision == study.precision;
    };
    std::vector<std::string> formats;
    for (const Run& run : runs) {
      const std::string format = format_and_codec(run);
      const bool belongs = run.kind == supply_kind      ? same_batch(run)
                           : run.kind == delivered_kind ? same_training(run)
                                                        : false;
      if (belongs && std::find(formats.begin(), formats.end(), format) == formats.end()) {
        formats.push_back(format);
      }
    }
    // Bench measures in random order; the page should not look different for it.
    std::sort(formats.begin(), formats.end());
    for (const std::string& format : formats) {
      study.curves.push_back({format,
                              points(runs,
                                     [&](const Run& run) {
                                       return run.kind == supply_kind && same_batch(run) &&
                                              format_and_codec(run) == format;
                                     }),
                              points(runs, [&](const Run& run) {
                                return run.kind == delivered_kind && same_training(run) &&
                                       format_and_codec(run) == format;
                              })});
    }
    const std::vector<Point> demand =
        points(runs, [&](const Run& run) { return run.kind == demand_kind && same_training(run); });
    if (!demand.empty()) study.demand = demand.front();
  }
  return studies;
}

std::vector<std::string> doubts(const std::vector<Run>& runs, const std::vector<Study>& studies) {
  std::vector<std::string> sentences;
  std::set<std::string> machines, commits, builds;
  std::set<unsigned> too_many;
  std::size_t wide = 0, missing = 0;
  const Run* widest = nullptr;
  for (const Run& run : runs) {
    machines.insert(fmt::format("{}, {} cores, {}", run.environment.cpu, run.environment.cores,
                                run.environment.gpu.value_or("no GPU")));
    commits.insert(run.environment.commit);
    builds.insert(run.environment.build_type);
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
  for (const Study& study : studies) {
    const double best = best_delivered(study);
    if (!study.demand || best <= study.demand->rate * impossible_share) continue;
    sentences.push_back(fmt::format(
        "{}: up to {} images/s are delivered, more than the {} measured as demand; one of the two "
        "was disturbed.",
        study.title(), quantity(best), quantity(study.demand->rate)));
  }
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

}  // namespace feedrate
