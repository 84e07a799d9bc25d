#pragma once
// What is no part of a loop though it happens in its time: the pause for the sweep, loops over other loaders
// inside a step, as to validate, and what a step takes from a loader beside this one, as zip() does. Pure functions.
// Times are seconds.

#include <cstdint>
#include <map>
#include <vector>

#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

struct LeftOut {
  std::vector<Paused> times{};  // in order, and apart
  double others = 0;  // of them, in loops over other loaders, and in waiting for batches of others

  /// How much of from … to.
  double within(double from, double to) const;
};

/// The loops of each process, in order.
class OtherLoops {
 public:
  explicit OtherLoops(const Seen& seen);

  LeftOut left_out_of(const LoaderSeen& loader) const;

 private:
  struct One {
    double begin = 0, known = 0, end = 0;  // known: until then it went on
    const LoaderSeen* loader = nullptr;
    std::uint64_t thread = 0;
    bool one_batch = false;  // which next(iter(loader)) takes
  };

  struct Take {
    double begin = 0, end = 0;  // of next()
    double since = 0;           // when its epoch began
    const LoaderSeen* loader = nullptr;
    std::uint64_t thread = 0;
  };

  /// Inside a step of `loader`, other loops, and what was taken from loaders beside it.
  void add_loops(const LoaderSeen& loader, const KnownStep& step, LeftOut& found) const;
  void add_takes(const LoaderSeen& loader, const KnownStep& step, LeftOut& found) const;

  const Seen& seen_;
  std::map<std::uint64_t, std::vector<One>> all_;     // by process, as they began
  std::map<std::uint64_t, std::vector<Take>> takes_;  // the same
};

}  // namespace feedrate::tools
