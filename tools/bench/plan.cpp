#include "tools/bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "formats/random.h"
#include "tools/text.h"

namespace feedrate {
namespace {

Run outline(std::string_view kind, const BenchDataset& dataset, const BenchOptions& options) {
  Run row;
  row.kind = kind;
  row.dataset = dataset.path.string();
  row.format = dataset.format;
  row.codec = dataset.codec;
  row.recipe = options.recipe;
  row.batch = options.batch;
  row.digest = dataset.digest;
  return row;
}

Run training(std::string_view kind, const BenchDataset& dataset, const BenchOptions& options,
             const std::string& network, unsigned cores) {
  Run row = outline(kind, dataset, options);
  row.network = network;
  row.device = options.device;
  row.precision = options.precision;
  // The same at every loader thread count, so that the curve shows the loader and nothing else.
  if (options.device == "cpu") {
    row.compute_threads = options.compute_threads > 0 ? options.compute_threads : cores;
  }
  return row;
}

void shuffle(std::vector<BenchPoint>& points, std::uint64_t seed) {
  for (std::size_t left = points.size(); left > 1; --left) {
    const auto pick = below(random_bits(seed, left), static_cast<std::uint32_t>(left));
    std::swap(points[left - 1], points[pick]);
  }
}

}  // namespace

std::string BenchPoint::title() const {
  if (row.kind == demand_kind) {
    return fmt::format("demand of {} on {}", row.network.value_or(""), row.device.value_or(""));
  }
  const std::string to = row.network ? fmt::format(" to {}", *row.network) : "";
  return fmt::format("{}{}, {}, {}", row.kind, to, format_and_codec(row),
                     counted(row.threads.value_or(0), "thread"));
}

std::vector<std::string> BenchPoint::command(const BenchOptions& options) const {
  std::vector<std::string> words;
  const auto add = [&](auto&&... more) { (words.emplace_back(more), ...); };
  add(row.kind == supply_kind ? "load" : "train", "--json");
  add("--recipe", row.recipe, "--batch", std::to_string(row.batch));
  add("--seconds", fmt::format("{}", options.seconds), "--seed", std::to_string(options.seed));
  if (row.threads) add("--threads", std::to_string(*row.threads));
  if (row.kind == supply_kind) {
    add("--no-digest");
  } else {
    add("--network", *row.network, "--device", *row.device, "--precision", *row.precision);
    add("--compute-threads", std::to_string(row.compute_threads.value_or(0)));
    if (row.kind == demand_kind) add("--resident");
  }
  add("--", row.dataset);  // whatever its name begins with
  return words;
}

std::vector<BenchPoint> plan_bench(const BenchOptions& options,
                                   const std::vector<BenchDataset>& datasets, unsigned cores) {
  std::vector<BenchPoint> points;
  for (const BenchDataset& dataset : datasets) {
    for (const unsigned threads : options.threads) {
      Run row = outline(supply_kind, dataset, options);
      row.threads = threads;
      points.push_back({row});
    }
  }
  for (const std::string& network : options.networks) {
    // Batches in memory are the same whatever format they came from.
    Run demand = training(demand_kind, datasets.front(), options, network, cores);
    points.push_back({demand});
    for (const BenchDataset& dataset : datasets) {
      for (const unsigned threads : options.threads) {
        Run row = training(delivered_kind, dataset, options, network, cores);
        row.threads = threads;
        points.push_back({row});
      }
    }
  }
  shuffle(points, options.seed);
  return points;
}

bool same_point(const Run& a, const Run& b) {
  const auto key = [](const Run& run) {
    // Demand is measured on batches in memory: which dataset filled them does not matter.
    const bool demand = run.kind == demand_kind;
    return std::make_tuple(run.kind, run.tool, run.cache, demand ? "" : run.format,
                           demand ? "" : run.codec, run.recipe, run.network, run.device,
                           run.precision, run.batch, run.threads, run.compute_threads, run.digest);
  };
  return key(a) == key(b);
}

}  // namespace feedrate
