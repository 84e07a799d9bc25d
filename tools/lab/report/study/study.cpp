#include "tools/lab/report/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "formats/base/without_slash.h"
#include "formats/remote/url.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;

namespace fs = std::filesystem;

namespace {

using RowList = std::vector<const Row*>;

/// One point for each thread count, rising.
std::vector<Point> points(const RowList& rows) {
  std::map<unsigned, RowList> by_threads;
  for (const Row* row : rows) by_threads[row->threads.value_or(0)].push_back(row);
  std::vector<Point> result;
  for (const auto& [threads, same] : by_threads) result.push_back(pool(same));
  return result;
}

bool shares_supply(const Study& study, const Row& row) {
  return row.digest == study.digest && row.recipe == study.recipe && row.batch == study.batch &&
         (study.machine.empty() || machine_of(row) == study.machine);
}

/// The studies of the rows, still without points. Sorted, because a bench measures in random order.
std::vector<Study> empty_studies(const std::vector<Row>& rows) {
  const std::map<std::string, std::string> names = dataset_names(rows);
  std::set<std::string> machines;
  for (const Row& row : rows) machines.insert(machine_of(row));
  const auto key = [](const Study& one) {
    return std::tuple(one.network.empty(), one.dataset, one.digest, one.network, one.device,
                      one.precision, one.recipe, one.batch, one.machine, one.emulates);
  };
  std::map<decltype(key(Study{})), Study> sorted;
  const auto add = [&](const Row& row) {
    Study study = empty_study(row, names.at(row.digest));
    if (machines.size() > 1) study.machine = machine_of(row);
    sorted.try_emplace(key(study), std::move(study));
  };
  for (const Row& row : rows) {
    if (row.network) add(row);
  }
  // Supply without a trained network of the same images, recipe and batch is a study of its own.
  for (const Row& row : rows) {
    const auto covers = [&](const auto& study) { return shares_supply(study.second, row); };
    if (!row.network && std::ranges::none_of(sorted, covers)) add(row);
  }
  std::vector<Study> studies;
  for (auto& [order, study] : sorted) studies.push_back(std::move(study));
  for (Study& study : studies) {
    study.has_namesakes =
        !study.emulates.empty() && std::ranges::any_of(studies, [&](const Study& other) {
          return other.device == study.device && other.emulates != study.emulates;
        });
  }
  return studies;
}

bool belongs(const Study& study, const Row& row) {
  return shares_supply(study, row) &&
         (row.kind == supply_kind || (row.network == study.network && row.device == study.device &&
                                      row.emulates.value_or("") == study.emulates &&
                                      row.precision.value_or("") == study.precision));
}

/// How the datasets of a study are stored. Where several have the same container and codec, their
/// paths tell them apart: on different disks, say, their rates are not repeats of one measurement.
class WaysStored {
 public:
  WaysStored(const Study& study, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      if (belongs(study, row) && !is_trainer_alone(row.kind)) {
        paths_[format_and_codec(row)].insert(plain_path(row));
      }
    }
  }
  /// "lmdb × raw" or "lmdb × raw (data/lmdb)"
  std::string of(const Row& row) const {
    const std::string way = format_and_codec(row);
    return paths_.at(way).size() < 2 ? way : join(way, " (", plain_path(row), ")");
  }

 private:
  std::map<std::string, std::set<std::string>> paths_;
};

/// `stored_as` as a curve is called.
std::string label(const Row& row, const std::string& stored_as) {
  return join(row.tool == own_tool ? "" : row.tool + " · ", stored_as,
              row.cache == cold_cache ? ", cold" : "");
}

void add_curves(Study& study, const std::vector<Row>& rows) {
  struct Members {
    RowList supply, delivered;
  };
  // The order of tables and colours: feedrate first, then by tool, format and cache.
  using Order = std::tuple<bool, std::string, std::string, bool>;
  std::map<Order, Members> curves;
  const WaysStored ways(study, rows);
  std::map<std::string, RowList> demands, computes;  // by tool
  for (const Row& row : rows) {
    if (!belongs(study, row)) continue;
    if (is_trainer_alone(row.kind)) {
      (row.kind == demand_kind ? demands : computes)[row.tool].push_back(&row);
      continue;
    }
    Members& members =
        curves[{row.tool != own_tool, row.tool, ways.of(row), row.cache == cold_cache}];
    (row.kind == supply_kind ? members.supply : members.delivered).push_back(&row);
  }
  const auto rate_of = [](const auto& by_tool, const std::string& tool) {
    const auto found = by_tool.find(tool);
    return found == by_tool.end() ? std::nullopt : std::optional(pool(found->second));
  };
  for (const auto& [order, members] : curves) {
    const Row& row = *(members.supply.empty() ? members.delivered : members.supply).front();
    const std::string& stored_as = std::get<2>(order);
    study.curves.push_back({.format = label(row, stored_as),
                            .tool = row.tool,
                            .cache = row.cache,
                            .stored_as = stored_as,
                            .remote = !formats::url_scheme(row.dataset).empty(),
                            .supply = points(members.supply),
                            .delivered = points(members.delivered),
                            .demand = rate_of(demands, row.tool),
                            .compute = rate_of(computes, row.tool)});
  }
  study.demand = rate_of(demands, std::string(own_tool));
  if (!study.demand && demands.size() == 1) study.demand = pool(demands.begin()->second);
}

}  // namespace

Study empty_study(const Row& row, const std::string& dataset) {
  return {.digest = row.digest,
          .dataset = dataset,
          .network = row.network.value_or(""),
          .device = row.device.value_or(""),
          .precision = row.precision.value_or(""),
          .recipe = row.recipe,
          .batch = row.batch,
          .emulates = row.emulates.value_or(""),
          .emulated_rate = row.emulated_rate};
}

std::string plain_path(const Row& row) {
  if (!formats::url_scheme(row.dataset).empty()) {  // whose slashes say where its host begins
    return without_slash(row.dataset).string();
  }
  return without_slash(fs::path(row.dataset).lexically_normal()).string();
}

std::string row_label(const Row& row) { return label(row, format_and_codec(row)); }

std::string machine_of(const Row& row) {
  const Environment& on = row.environment;
  return fmt::format("{}, {}, {}", on.cpu, counted(on.cores, "core"), on.gpu.value_or("no GPU"));
}

std::string Study::title() const {
  const std::string on = dataset.empty() ? "" : " on " + dataset;
  const std::string rest =
      fmt::format("batch {}{}{}", batch, recipe == "none" || is_of_script() ? "" : ", " + recipe,
                  machine.empty() ? "" : ", on " + machine);
  if (network.empty()) return fmt::format("the loader alone{}, {}", on, rest);
  const std::string images = dataset.empty() ? "" : dataset + ", ";
  return fmt::format("{} on {}{}{}, {}{}", network, images, device,
                     has_namesakes ? " (" + emulates + ")" : "",
                     precision.empty() ? "" : precision + ", ", rest);
}

std::string_view Study::worker() const { return worker_of(is_of_script(), torch_tool); }

std::vector<Study> make_studies(const std::vector<Row>& rows) {
  std::vector<Study> studies = empty_studies(rows);
  for (Study& study : studies) add_curves(study, rows);
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

std::string_view worker_of(const Study& study, const Curve& curve) {
  return worker_of(study.is_of_script(), curve.tool);
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
