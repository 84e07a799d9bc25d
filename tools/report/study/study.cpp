#include "tools/report/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tools/report/study/dataset_name.h"

namespace feedrate::tools {
namespace {

/// Of these rows, a point for each thread count.
std::vector<Point> points(const std::vector<const Run*>& runs) {
  std::map<unsigned, std::vector<const Run*>> by_threads;
  for (const Run* run : runs) by_threads[run->threads.value_or(0)].push_back(run);
  std::vector<Point> result;
  for (const auto& [threads, rows] : by_threads) result.push_back(pool(rows));
  return result;
}

/// The studies that the rows speak of, still without points.
std::vector<Study> outlines(const std::vector<Run>& runs) {
  const std::map<std::string, std::string> names = dataset_names(runs);
  std::vector<Study> studies;
  const auto outline = [&](const Run& run) {
    Study study;
    study.digest = run.digest;
    study.dataset = names.at(run.digest);
    study.recipe = run.recipe;
    study.batch = run.batch;
    return study;
  };
  const auto add = [&](Study study) {
    const auto key = [](const Study& one) {
      return std::tie(one.digest, one.network, one.device, one.precision, one.recipe, one.batch);
    };
    const auto same = [&](const Study& other) { return key(study) == key(other); };
    if (std::none_of(studies.begin(), studies.end(), same)) studies.push_back(std::move(study));
  };
  for (const Run& run : runs) {
    if (!run.network) continue;
    Study study = outline(run);
    study.network = *run.network;
    study.device = run.device.value_or("");
    study.precision = run.precision.value_or("");
    add(std::move(study));
  }
  // Supply that no trained network shares its images, recipe and batch with stands alone.
  for (const Run& run : runs) {
    const bool covered = std::any_of(studies.begin(), studies.end(), [&](const Study& study) {
      return study.digest == run.digest && study.recipe == run.recipe && study.batch == run.batch;
    });
    if (!covered) add(outline(run));
  }
  // Bench measures in random order; the page should not look different for it.
  const auto order = [](const Study& one) {
    return std::tuple(one.network.empty(), one.dataset, one.digest, one.network, one.device,
                      one.precision, one.recipe, one.batch);
  };
  std::stable_sort(studies.begin(), studies.end(),
                   [&](const Study& a, const Study& b) { return order(a) < order(b); });
  return studies;
}

bool belongs(const Study& study, const Run& run) {
  if (run.digest != study.digest || run.recipe != study.recipe || run.batch != study.batch) {
    return false;
  }
  if (run.kind == supply_kind) return true;
  return run.network == study.network && run.device == study.device &&
         run.precision == study.precision;
}

std::string label(const Run& run) {
  return (run.tool == own_tool ? "" : run.tool + " · ") + format_and_codec(run) +
         (run.cache == cold_cache ? ", cold" : "");
}

/// Rows of one curve, by kind.
struct Members {
  std::vector<const Run*> supply, delivered;
};

void fill(Study& study, const std::vector<Run>& runs) {
  // By feedrate first, then tool, format and cache: the order of tables and colours.
  using Order = std::tuple<bool, std::string, std::string, bool>;
  std::map<Order, Members> curves;
  using ByTool = std::map<std::string, std::vector<const Run*>>;
  ByTool demands, computes;
  for (const Run& run : runs) {
    if (!belongs(study, run)) continue;
    if (is_trainer_alone(run.kind)) {
      (run.kind == demand_kind ? demands : computes)[run.tool].push_back(&run);
      continue;
    }
    Members& members =
        curves[{run.tool != own_tool, run.tool, format_and_codec(run), run.cache == cold_cache}];
    (run.kind == supply_kind ? members.supply : members.delivered).push_back(&run);
  }
  const auto rate_of = [](const ByTool& rows, const std::string& tool) -> std::optional<Point> {
    const auto found = rows.find(tool);
    if (found == rows.end()) return std::nullopt;
    return pool(found->second);
  };
  for (const auto& [order, members] : curves) {
    const Run& run = *(members.supply.empty() ? members.delivered : members.supply).front();
    study.curves.push_back({.format = label(run),
                            .tool = run.tool,
                            .cache = run.cache,
                            .kept = format_and_codec(run),
                            .supply = points(members.supply),
                            .delivered = points(members.delivered),
                            .demand = rate_of(demands, run.tool),
                            .compute = rate_of(computes, run.tool)});
  }
  study.demand = rate_of(demands, std::string(own_tool));
  if (!study.demand && demands.size() == 1) study.demand = pool(demands.begin()->second);
}

void add_threads(std::set<unsigned>& counts, const Curve& curve) {
  for (const auto* points : {&curve.supply, &curve.delivered}) {
    for (const Point& point : *points) counts.insert(point.threads);
  }
}

}  // namespace

std::string Study::title() const {
  const std::string images = dataset.empty() ? "" : dataset + ", ";
  if (network.empty()) {
    return fmt::format("the loader alone{}{}, batch {}", dataset.empty() ? "" : " on ", dataset,
                       batch);
  }
  return fmt::format("{} on {}{}, {}, batch {}", network, images, device, precision, batch);
}

std::vector<Study> make_studies(const std::vector<Run>& runs) {
  std::vector<Study> studies = outlines(runs);
  for (Study& study : studies) fill(study, runs);
  return studies;
}

bool is_own(const Study& study, const Curve& curve) {
  const auto any = [&](const auto& holds) {
    return std::any_of(study.curves.begin(), study.curves.end(), holds);
  };
  const bool feedrate = any([](const Curve& one) { return one.tool == own_tool; });
  if (feedrate && curve.tool != own_tool) return false;
  const bool warm = any([&](const Curve& one) {
    return one.cache == warm_cache && (!feedrate || one.tool == own_tool);
  });
  return !warm || curve.cache == warm_cache;
}

bool is_trained(const Study& study) {
  return std::any_of(study.curves.begin(), study.curves.end(),
                     [](const Curve& curve) { return !curve.delivered.empty(); });
}

std::vector<unsigned> thread_counts(const Curve& curve) {
  std::set<unsigned> counts;
  add_threads(counts, curve);
  return {counts.begin(), counts.end()};
}

std::vector<unsigned> thread_counts(const Study& study) {
  std::set<unsigned> counts;
  for (const Curve& curve : study.curves) add_threads(counts, curve);
  return {counts.begin(), counts.end()};
}

}  // namespace feedrate::tools
