#pragma once
// The loader's supply, measured with few threads, carried to more cores of the same kind.

#include <optional>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

/// A number between two others that the doubts leave.
struct Range {
  double likely = 0;
  double low = 0;
  double high = 0;
};

/// At least one, and two and nothing more are two.
unsigned whole_cores(double cores);

/// What an image cost. At the most threads that were measured its cost holds for more; in the worst
/// case it grows with each doubling of the threads as much as it did up to there.
struct Scaling {
  unsigned fewest = 1;     // threads measured
  unsigned most = 1;       // and at the most
  double cost_fewest = 0;  // thread-seconds for an image at the fewest
  double cost = 0;         // and at the most
  double doubt = 0;        // of it, as a share: ± this

  /// images/s of so many cores, at least as many as were measured.
  Range supply(double cores) const;
  /// Cores that supply these images/s, which may themselves lie in a range.
  Range cores(const Range& rate) const;
  /// How many times as fast all threads would have been as they were, had each done as much as the
  /// fewest, less 1: the same prediction, tried where it can be measured. Nothing where only one
  /// number of threads was measured.
  std::optional<double> tried() const;

 private:
  double growth(double cores) const;  // of the cost from `most` to so many, in the worst case
};

/// From the curve's supply with up to as many threads as there are cores; nothing where none was
/// measured.
std::optional<Scaling> scaling_of(const Curve& curve);

/// A format's way to a device's demand.
struct Need {
  const Curve* curve = nullptr;
  double demand = 0;  // images/s; of an emulated device its rate
  Scaling scaling;
  Range cores;
};
/// For the curves of which a verdict may choose, where another device than this CPU was fed and its
/// demand is known.
std::vector<Need> needs(const Study& study);

}  // namespace feedrate::tools
