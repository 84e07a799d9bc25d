#pragma once
// The rate of a loader at any number of workers, from what a batch costs one of them. Pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/lab/diagnose/loop.h"
#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

/// What a batch costs, in seconds.
struct Costs {
  double samples = 0;   // of a batch
  double cpu = 0;       // to make it
  double blocked = 0;   // waiting, but not for a processor
  double put = 0;       // pickling it, where there are workers
  double receive = 0;   // taking it from a worker, in the loop's process
  double step = 0;      // of the loop, without waiting
  double step_cpu = 0;  // processor time of it
  double cores = 1;     // that may be kept busy

  /// samples/s of the loader alone. A worker pickles while it makes the next batch, but Python runs one
  /// of both at a time.
  double rate(std::uint64_t workers) const;
  /// samples/s of the loop. Without workers, batch and step come one after the other; with some, both need
  /// the same cores.
  double delivered(std::uint64_t workers) const;
};

struct CurvePoint {
  std::uint64_t workers = 0;
  double predicted = 0;            // samples/s
  std::optional<double> measured;  // by the sweep
};

/// Without a step.
Costs costs_of(const Service& service, double receive, double cores);
/// At 0, 1, 2, 4 … workers up to `cores`, and where the sweep has measured.
std::vector<CurvePoint> curve_of(const Costs& costs, const std::vector<Swept>& swept);

/// The measured rate, or else the predicted one.
double best_known(const CurvePoint& point);
/// The fewest workers, of those from which one may choose, that give the loop all it can take, or as much as
/// any number does.
std::uint64_t enough_workers(const Costs& costs, std::uint64_t most);

}  // namespace feedrate::tools
