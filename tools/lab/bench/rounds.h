#pragma once
// Measures the points of a plan in rounds: one repeat of each, then the next of each. The speed of
// a shared machine drifts for minutes by more than formats differ; points that take turns drift
// together, and their medians drop the odd slow minute.

#include <functional>
#include <span>

#include "tools/lab/bench/measure.h"

namespace feedrate::tools {

/// Callbacks of measure_in_rounds().
struct RoundsCalls {
  /// Called before the first round of these points, which take turns.
  std::function<void(std::span<const BenchPoint> points)> begins{};
  /// Runs a repeat of the point in a fresh process.
  std::function<Finished(const BenchPoint& point, const std::vector<std::string>& arguments)> run;
  /// A repeat of a point (but not one known to be its last) is done, with this rate in images/s.
  std::function<void(const BenchPoint& point, double rate)> repeated;
  /// A point is done; its row is complete except for its environment.
  std::function<void(const BenchPoint& point, const Row& row)> finished;
  /// Whether another round of warm points follows these rows, which have no environment yet. Asked
  /// after the last of `repeat` rounds and after each further one, with `decide` alone.
  std::function<bool(std::vector<Row> so_far)> goes_on{};
};

/// For one set of images after the other: rounds of supply, then rounds of demand and delivered;
/// cold points have rounds of their own. Each repeat of delivered is predicted before it runs, from
/// supply and from the demand of its round (cold: from the median demand); the row keeps the median
/// prediction. `rows` come from an earlier run that is being resumed. Throws what `run` throws,
/// after reporting all points that have a repeat.
void measure_in_rounds(std::span<const BenchPoint> points, const BenchOptions& options,
                       std::vector<Row> rows, unsigned cores, const RoundsCalls& calls);

}  // namespace feedrate::tools
