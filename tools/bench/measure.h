#pragma once
// Measures a point of a bench: repeats in fresh processes, their median.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/plan.h"
#include "tools/bench/process.h"

namespace feedrate::tools {

/// What runs `feedrate <arguments…>` to its end: run_self, or what stands in for it.
using Runner = std::function<Finished(const std::vector<std::string>& arguments)>;

/// A point on its way to a row, a process at a time. One thread.
class Measurement {
 public:
  explicit Measurement(BenchPoint point) : point_(std::move(point)) {}

  const BenchPoint& point() const { return point_; }
  /// One process more, of which `predicted` images/s are expected. Throws Error when it fails.
  void repeat(const BenchOptions& options, const Runner& runner,
              std::optional<double> predicted = {});
  /// Of the last process alone; there was one.
  const Run& last() const { return repeats_.back().row; }
  /// Of the processes so far, at least one; complete but for its environment. Warns where a cold
  /// point was none.
  Run row() const;

 private:
  struct Repeat {
    Run row;
    std::string warmth;  // of a cold point: what makes it less cold than it is called
  };
  static Repeat measure_once(const BenchPoint& point, const BenchOptions& options,
                             const Runner& runner);

  BenchPoint point_;
  std::vector<Repeat> repeats_;
};

}  // namespace feedrate::tools
