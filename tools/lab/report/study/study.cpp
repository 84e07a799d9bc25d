#include "tools/lab/report/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace feedrate::tools {
using namespace formats;

namespace {

using RunList = std::vector<const Run*>;

/// One point for each thread count, rising.
std::vector<Point> points(const RunList& runs) {
  std::map<unsigned, RunList> by_threads;
  for (const Run* run : runs) by_threads[run->threads.value_or(0)].push_back(run);
  std::vector<Point> result;
  for (const auto& [threads, rows] : by_threads) result.push_back(pool(rows));
  return result;
}

bool shares_supply(const Study& study, const Run& run) {
  return run.digest == study.digest && run.recipe == study.recipe && run.batch == study.batch &&
         (study.machine.empty() || machine_of(run) == study.machine);
}

/// The studies of the rows, still without points. Sorted, because a bench measures in random order.
std::vector<Study> empty_studies(const std::vector<Run>& runs) {
  const std::map<std::string, std::string> names = dataset_names(runs);
  std::set<std::string> machines;
  for (const Run& run : runs) machines.insert(machine_of(run));
  const auto key = [](const Study& one) {
    return std::tuple(one.network.empty(), one.dataset, one.digest, one.network, one.device,
                      one.precision, one.recipe, one.batch, one.machine);
  };
  std::map<decltype(key(Study{})), Study> sorted;
  const auto add = [&](const Run& run) {
    Study study = empty_study(run, names.at(run.digest));
    if (machines.size() > 1) study.machine = machine_of(run);
    sorted.try_emplace(key(study), std::move(study));
  };
  for (const Run& run : runs) {
    if (run.network) add(run);
  }
  // Supply without a trained network of the same images, recipe and batch is a study of its own.
  for (const Run& run : runs) {
    const auto covers = [&](const auto& study) { return shares_supply(study.second, run); };
    if (!run.network && std::ranges::none_of(sorted, covers)) add(run);
  }
  std::vector<Study> studies;
  for (auto& [order, study] : sorted) studies.push_back(std::move(study));
  return studies;
}

bool belongs(const Study& study, const Run& run) {
  return shares_supply(study, run) &&
         (run.kind == supply_kind || (run.network == study.network && run.device == study.device &&
                                      run.precision == study.precision));
}

/// How the datasets of a study are stored. Where several have the same container and codec, their
/// paths tell them apart: on different disks, say, their rates are not repeats of one measurement.
class WaysStored {
 public:
  WaysStored(const Study& study, const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      if (belongs(study, run) && !is_trainer_alone(run.kind)) {
        paths_[format_and_codec(run)].insert(run.dataset);
      }
    }
  }
  /// "lmdb × raw" or "lmdb × raw (data/lmdb)"
  std::string of(const Run& run) const {
    const std::string way = format_and_codec(run);
    return paths_.at(way).size() < 2 ? way : join(way, " (", run.dataset, ")");
  }

 private:
  std::map<std::string, std::set<std::string>> paths_;
};

/// `stored_as` as a curve is called.
std::string label(const Run& run, const std::string& stored_as) {
  return join(run.tool == own_tool ? "" : run.tool + " · ", stored_as,
              run.cache == cold_cache ? ", cold" : "");
}

void add_curves(Study& study, const std::vector<Run>& runs) {
  struct Members {
    RunList supply, delivered;
  };
  // The order of tables and colours: feedrate first, then by tool, format and cache.
  using Order = std::tuple<bool, std::string, std::string, bool>;
  std::map<Order, Members> curves;
  const WaysStored ways(study, runs);
  std::map<std::string, RunList> demands, computes;  // by tool
  for (const Run& run : runs) {
    if (!belongs(study, run)) continue;
    if (is_trainer_alone(run.kind)) {
      (run.kind == demand_kind ? demands : computes)[run.tool].push_back(&run);
      continue;
    }
    Members& members =
        curves[{run.tool != own_tool, run.tool, ways.of(run), run.cache == cold_cache}];
    (run.kind == supply_kind ? members.supply : members.delivered).push_back(&run);
  }
  const auto rate_of = [](const auto& rows, const std::string& tool) {
    const auto found = rows.find(tool);
    return found == rows.end() ? std::nullopt : std::optional(pool(found->second));
  };
  for (const auto& [order, members] : curves) {
    const Run& run = *(members.supply.empty() ? members.delivered : members.supply).front();
    const std::string& stored_as = std::get<2>(order);
    study.curves.push_back({.format = label(run, stored_as),
                            .tool = run.tool,
                            .cache = run.cache,
                            .stored_as = stored_as,
                            .supply = points(members.supply),
                            .delivered = points(members.delivered),
                            .demand = rate_of(demands, run.tool),
                            .compute = rate_of(computes, run.tool)});
  }
  study.demand = rate_of(demands, std::string(own_tool));
  if (!study.demand && demands.size() == 1) study.demand = pool(demands.begin()->second);
}

}  // namespace

Study empty_study(const Run& run, const std::string& dataset) {
  return {.digest = run.digest,
          .dataset = dataset,
          .network = run.network.value_or(""),
          .device = run.device.value_or(""),
          .precision = run.precision.value_or(""),
          .recipe = run.recipe,
          .batch = run.batch};
}

std::string row_label(const Run& run) { return label(run, format_and_codec(run)); }

std::string machine_of(const Run& run) {
  const Environment& on = run.environment;
  return fmt::format("{}, {} cores, {}", on.cpu, on.cores, on.gpu.value_or("no GPU"));
}

std::string Study::title() const {
  const std::string on = dataset.empty() ? "" : " on " + dataset;
  const std::string rest = fmt::format("batch {}{}{}", batch, recipe == "none" ? "" : ", " + recipe,
                                       machine.empty() ? "" : ", on " + machine);
  if (network.empty()) return fmt::format("the loader alone{}, {}", on, rest);
  const std::string images = dataset.empty() ? "" : dataset + ", ";
  return fmt::format("{} on {}{}, {}, {}", network, images, device, precision, rest);
}

std::vector<Study> make_studies(const std::vector<Run>& runs) {
  std::vector<Study> studies = empty_studies(runs);
  for (Study& study : studies) add_curves(study, runs);
  return studies;
}

bool is_candidate(const Study& study, const Curve& curve) {
  const bool has_own =
      std::ranges::any_of(study.curves, [](const Curve& one) { return one.tool == own_tool; });
  if (has_own && curve.tool != own_tool) return false;
  const bool has_warm = std::ranges::any_of(study.curves, [&](const Curve& one) {
    return one.cache == warm_cache && (!has_own || one.tool == own_tool);
  });
  return !has_warm || curve.cache == warm_cache;
}

unsigned series_of(const Study& study, const Curve& curve) {
  return static_cast<unsigned>(&curve - study.curves.data());
}

std::optional<PredictionError> prediction_error(std::span<const Curve> curves) {
  std::vector<double> errors;
  for (const Curve& curve : curves) {
    for (const auto* points : {&curve.supply, &curve.delivered}) {
      for (const Point& point : *points) {
        if (const auto error = point.prediction_error()) errors.push_back(*error);
      }
    }
  }
  if (errors.empty()) return std::nullopt;
  return PredictionError{errors.size(), median(errors), std::ranges::max(errors)};
}

}  // namespace feedrate::tools
