#pragma once
// What tests of bench's plans ask for, and count.

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/lab/bench/plan.h"

namespace feedrate::tools {

inline const std::vector<BenchDataset> two_datasets{{"a", "lmdb", "raw", "d1"},
                                                    {"b", "recordio", "png", "d1"}};

inline BenchOptions two_threads() {
  BenchOptions options;
  options.networks = {"lenet"};
  options.threads = {0, 2};
  return options;
}

inline std::size_t count(const std::vector<BenchPoint>& points, std::string_view kind) {
  return static_cast<std::size_t>(
      std::ranges::count(points, kind, [](const BenchPoint& point) { return point.row.kind; }));
}

}  // namespace feedrate::tools
