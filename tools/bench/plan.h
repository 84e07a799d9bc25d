#pragma once
// Which points a bench measures, in which order, and with which command each.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/row.h"

namespace feedrate {

/// What `feedrate bench` was asked.
struct BenchOptions {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> networks;
  std::vector<unsigned> threads{0, 1, 2, 4};
  unsigned compute_threads = 0;  // of a CPU trainer; 0: every core
  unsigned repeat = 3;
  double seconds = 2;  // of each repeat
  std::string recipe = "none";
  std::uint32_t batch = 64;
  std::string device = "cpu";
  std::string precision = "fp32";
  std::uint64_t seed = 1;
};

/// A dataset among the paths, as rows tell of it.
struct BenchDataset {
  std::filesystem::path path;
  std::string format;
  std::string codec;
  std::string digest;
};

/// One row to be: a Run without measurements.
struct BenchPoint {
  Run row;
  std::string title() const;  // "supply of lmdb × raw, 2 threads"
  /// Arguments of the process that measures it once.
  std::vector<std::string> command(const BenchOptions& options) const;
};

/// Supply for each dataset and thread count; for each network, demand once and delivered for each
/// dataset and thread count. In an order that depends on the seed alone, so that a machine that
/// grows warm or busy does not favour one format.
std::vector<BenchPoint> plan_bench(const BenchOptions& options,
                                   const std::vector<BenchDataset>& datasets, unsigned cores);

/// True when both rows measure the same thing.
bool same_point(const Run& a, const Run& b);

}  // namespace feedrate
