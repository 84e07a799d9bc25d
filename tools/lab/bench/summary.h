#pragma once
// Shows the plan of a bench before anything is measured. Pure functions.

#include <span>
#include <string>

#include "tools/lab/bench/plan.h"

namespace feedrate::tools {

/// Seconds of measuring, without starting the processes, which takes an unknown time.
double least_seconds(std::size_t points, const BenchOptions& options);

/// For each set of images and kind of point: the number of points and the values of their keys.
std::string plan_text(std::span<const BenchPoint> points, const BenchOptions& options);
/// One JSON object with all points, in the order of measuring.
std::string plan_json(std::span<const BenchPoint> points, const BenchOptions& options);

}  // namespace feedrate::tools
