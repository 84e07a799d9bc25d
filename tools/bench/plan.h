#pragma once
// Which points a bench measures, in which order, and with which command each.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/pixels/image.h"
#include "tools/bench/condition.h"
#include "tools/measure/row.h"

namespace feedrate::tools {

/// What `feedrate bench` was asked, by options or by a plan: every combination of the lists.
struct BenchOptions {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> tools{std::string(own_tool)};
  std::vector<std::string> recipes{"none"};
  std::vector<std::uint32_t> batches{64};
  std::vector<std::string> caches{std::string(warm_cache)};
  std::vector<unsigned> threads{0, 1, 2, 4};
  std::vector<std::string> networks;  // none: supply alone
  std::vector<std::string> devices{"cpu"};
  std::vector<std::string> precisions{"fp32"};
  std::vector<Condition> exclude;
  std::vector<Only> only;
  unsigned compute_threads = 0;  // of a CPU trainer; 0: every core
  unsigned repeat = 3;
  double seconds = 2;  // of each repeat
  std::uint64_t seed = 1;
};

/// A dataset among the paths, as rows tell of it.
struct BenchDataset {
  std::filesystem::path path;
  std::string format;
  std::string codec;
  std::string digest;      // "": not yet known
  formats::Shape shape{};  // of its first sample
  std::uint32_t classes = 0;
};

/// One row to be: a Run without measurements.
struct BenchPoint {
  Run row;
  std::string title() const;  // "supply of lmdb × raw (data/lmdb), batch 64, 2 threads"
  /// Arguments of the process that measures it once; tools/bench/peer.h has those of other tools.
  std::vector<std::string> command(const BenchOptions& options) const;
};

/// For each tool, recipe, batch and dataset supply at each thread count, from each cache; for each
/// network, device and precision demand once for all datasets of the same images, and delivered as
/// supply. What the conditions leave out is left out. Of one set of images after the other: first
/// supply, then demand, then delivered, which is predicted from both; each part in an order that
/// depends on the seed alone, all that is measured warm before all that is cold, so that a machine
/// that grows warm or busy does not favour one format. Throws Error when nothing is left, when an
/// exclusion excludes nothing, or when there are more than anybody measures. Demand is planned on a
/// dataset that its tool `reads`, where there is one.
std::vector<BenchPoint> plan_bench(
    const BenchOptions& options, const std::vector<BenchDataset>& datasets, unsigned cores,
    const std::function<bool(const Run&)>& reads = [](const Run&) { return true; });

/// True when both rows measure the same thing.
bool same_point(const Run& a, const Run& b);

}  // namespace feedrate::tools
