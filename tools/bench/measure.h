#pragma once
// Measures a point of a bench: repeats in fresh processes, their median.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/plan.h"
#include "tools/bench/process.h"

namespace feedrate {

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
  /// images/s of the last process; there was one.
  double last_rate() const { return repeats_.back().rate; }
  /// Of the processes so far, at least one; complete but for its environment. Warns where a cold
  /// point was none.
  Run row() const;

 private:
  struct Repeat {
    double rate = 0;
    std::optional<unsigned> workers_seen;
    std::optional<double> warmup_seconds;
    std::optional<double> stall_percent;
    std::optional<double> wait_ms;
    std::optional<double> read_us;
    std::optional<double> decode_us;
    std::optional<double> augment_us;
    std::optional<double> cpu_us;
    Telemetry telemetry{};
    std::string warmth;  // of a cold point: what makes it less cold than it is called
  };
  static Repeat measure_once(const BenchPoint& point, const BenchOptions& options,
                             const Runner& runner);

  BenchPoint point_;
  std::vector<Repeat> repeats_;
  std::vector<double> predictions_;
};

}  // namespace feedrate
