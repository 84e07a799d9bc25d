#pragma once
// What is no part of a loop though it happens in its time: the pause for the sweep, and loops over other
// loaders inside a step, as to validate. Pure functions. Times are seconds.

#include <cstdint>
#include <map>
#include <vector>

#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

struct LeftOut {
  std::vector<Paused> times{};  // in order, and apart
  double others = 0;            // of them, in loops over other loaders

  /// How much of from … to.
  double within(double from, double to) const;
};

/// Whether each step has an iterator of its own, as of next(iter(loader)); it lasts until the next one begins.
bool made_anew(const LoaderSeen& loader);

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

  const Seen& seen_;
  std::map<std::uint64_t, std::vector<One>> all_;  // by process, as they began
};

}  // namespace feedrate::tools
