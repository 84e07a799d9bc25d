#pragma once
// A plan of a bench as it is shown before anything is measured. Pure functions.

#include <span>
#include <string>

#include "tools/bench/plan.h"

namespace feedrate::tools {

/// Seconds of measuring alone: what starting each process takes is not known before.
double least_seconds(std::size_t points, const BenchOptions& options);

/// For each kind of point of the same images: how many, and which values its keys have.
std::string plan_text(std::span<const BenchPoint> points, const BenchOptions& options);
/// One object, with every point in the order of measuring.
std::string plan_json(std::span<const BenchPoint> points, const BenchOptions& options);

}  // namespace feedrate::tools
