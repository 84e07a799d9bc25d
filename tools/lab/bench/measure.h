#pragma once
// Measures a point of a bench: repeats in fresh processes, and their median.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/bench/plan.h"
#include "tools/lab/bench/process.h"

namespace feedrate::tools {

/// Runs `feedrate <arguments…>` to its end: run_self, or a substitute.
using Runner = std::function<Finished(const std::vector<std::string>& arguments)>;

/// Collects the repeats of a point into a row. Not thread-safe.
class Measurement {
 public:
  explicit Measurement(BenchPoint point) : point_(std::move(point)) {}

  const BenchPoint& point() const { return point_; }
  bool has_repeats() const { return !repeats_.empty(); }
  /// Runs another process; `predicted` is its expected images/s. Throws Error when it fails.
  void repeat(const BenchOptions& options, const Runner& runner,
              std::optional<double> predicted = {});
  /// The row of the last process; needs at least one.
  const Row& last() const { return repeats_.back().row; }
  /// The row of all processes so far (at least one), complete except for its environment. Warns
  /// when a cold point was partly warm.
  Row row() const;

 private:
  struct Repeat {
    Row row;
    std::string warmth;  // why a cold repeat was partly warm; "": it was cold
  };
  static Repeat measure_once(const BenchPoint& point, const BenchOptions& options,
                             const Runner& runner);

  BenchPoint point_;
  std::vector<Repeat> repeats_;
};

}  // namespace feedrate::tools
