#pragma once
// Predicts what arrives at a trainer, from what the loader and the trainer can do alone. Pure
// functions.
//
// - A trainer on a device of its own gets min(supply, demand).
// - A trainer on the CPU shares its cores with the loader. An image costs the trainer
//   threads / demand core-seconds and the loader `cost` more; there are `cores` core-seconds in
//   each second.
// - A loader without threads works in the trainer's thread, so an image takes the time of both,
//   whatever the device.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "loader/verdict.h"
#include "tools/lab/advise/supply.h"

namespace feedrate::tools {

struct Consumer {
  double demand = std::numeric_limits<double>::infinity();  // images/s when it never waits
  bool shares_cores = false;                                // with the loader
  unsigned cores = 1;                                       // of the machine
  unsigned threads = 0;                                     // computing; 0: as many as cores
  unsigned driving = 0;                                     // threads that drive a device
  double driving_seconds = 0;                               // of them, for an image
  double doubt = 0;                                         // of the demand, as a share: ± this
};

/// The images in one format (codec and size included): the loader's supply from it, measured at the
/// fewest threads (usually one) and at the most.
struct Variant {
  std::string name;
  Supply at_min;
  Supply at_max;
  std::uint64_t bytes = 0;  // of the whole dataset
  double doubt = 0;         // of the sample of images, beside that of measuring, as a share
  bool remote = false;      // on a server
  double extra_read = 0;    // thread-seconds for an image: disk reads where memory is too small

  /// Thread-seconds for an image with this many threads: interpolated between the two measured
  /// thread counts, constant outside them.
  double cost(unsigned threads) const;
  /// images/s of this many threads; 0: of the trainer's own.
  double supply(unsigned threads) const { return std::max(1U, threads) / cost(threads); }
};

/// Loader threads that were considered. A number that was ruled out is slower than the best, or it
/// is no faster than the one chosen, which is lower.
struct Considered {
  unsigned threads = 0;  // 0: the loader works in the trainer's thread
  double supply = 0;     // images/s
  double delivered = 0;  // images/s
  enum class Outcome : std::uint8_t { chosen, slower, no_faster } outcome = Outcome::chosen;
};

struct Prediction {
  unsigned threads = 0;           // the fewest that deliver as much as the best
  std::vector<Considered> curve;  // by number of threads
  double supply = 0;              // images/s at that many
  double delivered = 0;           // images/s
  double doubt = 0;               // of delivered, as a share: ± this
  loader::Verdict verdict{};
};

/// Predicted images/s with this many loader threads; 0: the loader works in the trainer's thread.
double delivered(const Variant& variant, const Consumer& consumer, unsigned threads);
/// The prediction at the fewest threads that deliver as much as the best, by the tolerance of
/// loader::as_fast_as(); none only where the consumer's demand is known.
Prediction predict(const Variant& variant, const Consumer& consumer);

}  // namespace feedrate::tools
