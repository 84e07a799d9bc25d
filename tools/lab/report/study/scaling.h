#pragma once
// The loader's supply, measured with few threads, carried to more cores of the same kind.

#include <optional>
#include <string>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

/// A number between two others that the doubts leave; `high` may be infinite.
struct Range {
  double likely = 0;
  double low = 0;
  double high = 0;
};

/// At least one, and two and nothing more are two; of a finite number.
unsigned whole_cores(double cores);
/// Nothing of an infinite one, or of more than a machine has: no number of cores is known to be enough.
std::optional<unsigned> known_cores(double cores);
/// "13 (12 to 15)", "13 (12 or more)", "13"
std::string cores_text(unsigned likely, unsigned fewest, std::optional<unsigned> most);

/// What an image costs: its CPU time, which is steadier than rates, and holds where other programs have the cores.
/// At the most threads that were measured its cost holds for more. In the worst
/// case it grows with each doubling of the threads as much as it did up to there, or as if the kernel, which
/// opens, reads and closes files, worked for one thread at a time (Amdahl's law), as far as the growth up to
/// there allows that.
struct Scaling {
  unsigned fewest = 1;      // threads measured
  unsigned most = 1;        // and at the most
  double cost_fewest = 0;   // CPU seconds for an image at the fewest
  double cost = 0;          // and at the most
  double kernel_share = 0;  // of its processor time, in the kernel; 0: not known
  double doubt = 0;         // of it, as a share: ± this

  /// images/s of so many cores, at least as many as were measured.
  Range supply(double cores) const;
  /// Cores that supply these images/s, which may themselves lie in a range: the inverse of supply().
  Range cores(const Range& rate) const;
  /// How many times as fast all threads would have been as they were, had each done as much as the
  /// fewest, less 1: the same prediction, tried where it can be measured. Nothing where only one
  /// number of threads was measured.
  std::optional<double> tried() const;

 private:
  double serial() const;  // thread-seconds that each further thread adds, in the worst case
  double growth(double cores) const;  // of the cost from `most` to so many, in the worst case
  double most_cores(double rate) const;
};

/// Of the processor time, in the kernel; 0 where it is not known.
double share_of(double kernel, double all);
/// Beyond this share, how the kernel scales decides, and is told.
inline constexpr double large_kernel_share = 0.1;

/// From the curve's supply with up to as many threads as there are cores; nothing where none was
/// measured. Thread-seconds count where CPU time was not measured.
std::optional<Scaling> scaling_of(const Curve& curve);

/// A format's way to a device's demand.
struct Need {
  const Curve* curve = nullptr;
  double demand = 0;  // images/s; of an emulated device its rate
  Scaling scaling;
  Range cores;
};
/// For the curves of which a verdict may choose, where the demand is known. A trainer on this CPU takes its own
/// cores beside them.
std::vector<Need> needs(const Study& study);

}  // namespace feedrate::tools
