#pragma once
// How many cores like this machine's feed devices that are not here. Pure functions.

#include <cstdint>
#include <optional>
#include <string>

#include "tools/lab/advise/device_demand.h"
#include "tools/lab/advise/permits.h"
#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {

/// The cores for one format of the images, beside those of the trainer's own threads.
struct Cores {
  unsigned likely = 0;
  unsigned fewest = 0;          // if all doubts are in our favour
  std::optional<unsigned> most;  // if all are not; nothing: no number is known to be enough
  double bytes_per_second = 0;  // that the loader reads
};

struct Feeding {
  DeviceDemand demand;
  /// How much more all cores would have supplied if each did as much as in a measurement that saw half
  /// of them only, as a share: the same prediction, tried where it can be measured. Nothing where there
  /// is one core.
  std::optional<double> hidden_cores_error;
  /// Whether the cores for what all of them supplied, as told from one and from that half, have their number
  /// between the fewest and the most.
  std::optional<bool> range_held;
  unsigned measured = 1;          // cores
  unsigned seen = 0;              // of them, while the others were hidden
  double kernel_share = 0;        // of the processor time of an image as it is
  std::vector<Permit> permits{};  // of this machine, for the images as they are

  /// "One H100", "8 H100"
  std::string name() const;
};

/// An error beyond this is told before the number.
inline constexpr double max_hidden_cores_error = 0.1;

/// `half`: supply of the present images while the other half of the cores was hidden, with a thread for
/// each of its cores; without slices where none could be hidden.
Feeding feeding_of(DeviceDemand demand, const Variant& present, const Supply& half);

/// `images`: of the whole dataset. An image's cost at the most threads that were measured holds for
/// more; for `most`, it grows with each doubling of the threads as much as it did up to there.
Cores cores_for(const Feeding& feeding, const Variant& variant, std::uint64_t images);

}  // namespace feedrate::tools
