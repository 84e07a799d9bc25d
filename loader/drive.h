#pragma once
// Runs a loader with no trainer behind it: as fast as it goes, or as a trainer of a given speed.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "loader/loader.h"

namespace feedrate::loader {

struct DriveOptions {
  double seconds = 0;                    // stop after as many; 0: at the loader's end
  double emulate_images_per_second = 0;  // take a batch as a trainer of this speed; 0: at once
  bool digest = false;                   // hash all batches: proves that two runs gave the same
  std::function<void()> first_batch{};   // called when it has come
};

/// The clock starts when the first batch arrives: starting up is told apart, as MLPerf Storage
/// does. Batches that lay ready by then are not counted in the rate. Where they are most of a short
/// run, the clock starts with the loader instead: nothing loaded is ever free. The rate of a run of
/// given length is that from where it has settled (settling.h).
struct DriveResult {
  std::uint64_t images = 0;  // all, the first batch's too
  std::uint64_t batches = 0;
  double first_batch_seconds = 0;                 // from the call to the first batch
  double seconds = 0;                             // from the first batch to the end
  bool from_start = false;                        // or, in so short a run, from the loader's start
  double images_per_second = 0;                   // of the batches filled once it has settled
  std::optional<double> warmup_seconds;           // of `seconds`, before that; absent: not known
  double stall_seconds = 0;                       // the consumer waited, the first batch excluded
  std::optional<double> accelerator_utilisation;  // compute / total, when emulating
  std::string digest;                // hex SHA-256 of labels and pixels in order, when asked
  double cpu_seconds = 0;            // of the whole process, user and system, in this call
  std::uint64_t peak_rss_bytes = 0;  // of the process so far
};

/// Takes batches until the time is up or the loader ends. Reads a byte of every cache line of every
/// batch, as an upload would. Throws what the loader throws.
DriveResult drive(Loader& loader, const DriveOptions& options);

}  // namespace feedrate::loader
