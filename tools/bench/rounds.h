#pragma once
// Measures the points of a plan in rounds: one repeat of each, then the next of each. A shared
// machine's speed changes for a minute by more than many a difference between formats; points that
// take turns change together, and medians leave the odd minute out.

#include <functional>
#include <span>

#include "tools/bench/measure.h"

namespace feedrate::tools {

/// What is told, and what runs.
struct RoundsCalls {
  std::function<Finished(const BenchPoint& point, const std::vector<std::string>& arguments)> run;
  /// A repeat, but the last, of a point is done: its images/s.
  std::function<void(const BenchPoint& point, double rate)> repeated;
  /// A point is done: its row, complete but for its environment.
  std::function<void(const BenchPoint& point, const Run& row)> finished;
};

/// Of one set of images after the other: rounds of supply, then rounds of demand and delivered;
/// what is measured cold has rounds of its own. Each repeat of delivered is predicted before it
/// runs, from supply and from the demand of its round (cold: from demand's median); the row keeps
/// the median. `rows` are of an earlier run, which is gone on with. Throws what `run` throws;
/// points that are done then were told.
void measure_in_rounds(std::span<const BenchPoint> points, const BenchOptions& options,
                       std::vector<Run> rows, unsigned cores, const RoundsCalls& calls);

}  // namespace feedrate::tools
