#pragma once
// Measures a point of a bench: repeats in fresh processes, their median.

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/plan.h"
#include "tools/bench/process.h"

namespace feedrate {

/// What runs `feedrate <arguments…>` to its end: run_self, or what stands in for it in tests.
using Runner = std::function<Finished(const std::vector<std::string>& arguments)>;

/// The row, complete but for its environment. Throws Error when a repeat fails.
Run measure(const BenchPoint& point, const BenchOptions& options, const Runner& runner = run_self);

}  // namespace feedrate
