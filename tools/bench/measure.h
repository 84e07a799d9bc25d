#pragma once
// Measures a point of a bench: repeats in fresh processes, their median.

#include "tools/bench/plan.h"

namespace feedrate {

/// The row, complete but for its environment. Throws Error when a repeat fails.
Run measure(const BenchPoint& point, const BenchOptions& options);

}  // namespace feedrate
