#pragma once
// What arrives at a trainer, from what a loader and the trainer can do alone. Pure functions.
//
// A trainer with a device of its own takes what it can or what comes: min(supply, demand). One on
// the processor shares the cores with the loader: an image costs it threads / demand seconds of a
// core, the loader `cost` more, and cores of them pass each second. A loader without threads works
// in the trainer's, so that an image takes the time of both, whatever the device.

#include <cstdint>
#include <limits>
#include <string>

#include "loader/verdict.h"
#include "tools/advise/supply.h"

namespace feedrate::tools {

struct Consumer {
  double demand = std::numeric_limits<double>::infinity();  // images/s when it never waits
  bool shares_cores = false;                                // with the loader
  unsigned cores = 1;                                       // of the machine
  unsigned threads = 0;                                     // it computes with; 0: cores
  double doubt = 0;                                         // of the demand, as a share
};

/// One way to keep the images: what the loader gives from there, measured at one thread, or the
/// fewest there are, and at the most there may be.
struct Way {
  std::string name;
  Supply one;
  Supply most;
  std::uint64_t bytes = 0;  // of the whole dataset
  double doubt = 0;         // beside the measurements': how well some images stand for all
  double extra_read = 0;    // seconds a thread for an image: from a disk, where memory is too small

  /// Seconds of a thread for an image, with so many of them: between the measured ones, or as the
  /// nearer of them where it is not between.
  double cost(unsigned threads) const;
  /// images/s of so many threads, at least 1.
  double supply(unsigned threads) const { return threads / cost(threads); }
};

struct Prediction {
  unsigned threads = 0;  // the fewest that deliver within `knee_margin` of the best
  double supply = 0;     // images/s of that many
  double delivered = 0;  // images/s
  double doubt = 0;      // of delivered, as a share: ± this
  loader::Bound bound = loader::Bound::consumer;
};

/// Differences smaller than this count as none, in 'feedrate report' too.
inline constexpr double knee_margin = 0.03;

/// images/s with so many loader threads; 0: in the trainer's own.
double delivered(const Way& way, const Consumer& consumer, unsigned threads);
Prediction predict(const Way& way, const Consumer& consumer);

}  // namespace feedrate::tools
