#pragma once
// Runs a loader without a trainer: at full speed, or at the pace of a trainer of a given speed.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "loader/loader.h"

namespace feedrate::loader {

/// The time of a run, and its naps. For tests: another one makes a run the same on any machine.
struct DriveClock {
  using Time = std::chrono::steady_clock::time_point;
  virtual ~DriveClock() = default;
  virtual Time now() { return std::chrono::steady_clock::now(); }
  virtual double processor_seconds();  // that the calling thread has used so far
  virtual void sleep_until(Time time);
};

struct DriveOptions {
  double seconds = 0;                    // stop after this time; 0: at the loader's end
  double emulate_images_per_second = 0;  // a trainer of this speed; 0: one that takes no time
  /// Cores that the emulated trainer keeps busy while it computes, as threads do that drive devices:
  /// its own thread, and further ones where it is more than 1. Each computes for this share of a step
  /// and sleeps for the rest. Where cores are short, the step takes longer.
  double emulate_host_cores = 0;
  bool resident = false;  // take the first batch again and again: the emulated trainer alone
  bool digest = false;    // hash all batches, to compare runs
  std::function<void()> first_batch{};  // called when the first batch has arrived
  /// Takes each batch, instead of a read of every cache line, and returns the bytes to hash as its
  /// images. `finish` is called behind the last one, before the time is up.
  std::function<std::span<const std::byte>(const Batch&)> take{};
  std::function<void()> finish{};
  DriveClock* clock = nullptr;  // null: the steady clock
};

/// The clock starts when the first batch arrives, so that start-up is reported separately, as in
/// MLPerf Storage. Images that lay ready by then do not count towards the rate. Where few batches
/// follow (at most twice as many as the loader has slots), the clock starts with the loader instead,
/// so that no image is free. The rate of a run of given length is measured from where it has settled
/// (tuning/settling.h), and that of an emulated trainer only once it has taken what lay ready, which
/// costs it the same time as other images.
struct DriveResult {
  std::uint64_t images = 0;  // in all batches, the first included
  std::uint64_t batches = 0;
  bool stopped = false;                           // early, on request: formats/base/stop.h
  double first_batch_seconds = 0;                 // from the call to the first batch
  double seconds = 0;                             // from the first batch to the end
  bool from_start = false;                        // from the loader's start instead: a short run
  std::uint64_t ready_images = 0;                 // that lay ready when the clock started
  std::optional<double> warmup_seconds;           // of `seconds`, not timed; absent: unknown
  std::uint64_t timed_images = 0;                 // what the rate is of; a batch cut off, in part
  double timed_seconds = 0;                       // the time that they took
  std::optional<double> demand;                   // images/s while the consumer did not wait
  double stall_seconds = 0;                       // waits of the consumer during `seconds`
  std::optional<double> accelerator_utilisation;  // compute / total, when emulating
  std::string digest;                // hex SHA-256 of labels and pixels in order, when requested
  double cpu_seconds = 0;            // of the whole process, user and system, during this call
  double kernel_seconds = 0;         // of these, in the kernel
  std::uint64_t peak_rss_bytes = 0;  // of the process so far

  /// Timed images / timed seconds; absent where these are too few.
  std::optional<double> images_per_second() const;
  /// Why there is no rate, such as "one batch is too few"; "" if there is one.
  std::string unknown_rate() const;
};

/// Takes batches until the time is up or the loader ends, and reads a byte of every cache line of
/// every batch, as an upload would. The consumer thread. Throws what the loader throws.
DriveResult drive(Loader& loader, const DriveOptions& options);

}  // namespace feedrate::loader
