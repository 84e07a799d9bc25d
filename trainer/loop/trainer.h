#pragma once
// The training loop: batches from a source through a session, with the wait for data told apart
// from the work.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loader/batch.h"
#include "trainer/backends/backend.h"
#include "trainer/optimizers/schedule.h"

namespace feedrate::trainer {

struct TrainOptions {
  Schedule schedule{};
  UpdateSettings update{};         // its rate is the schedule's
  std::uint64_t steps = 0;         // stop after so many; 0: when the source ends
  std::uint64_t first_step = 0;    // resume
  std::uint64_t report_every = 0;  // steps between calls of progress; 0: never
  struct Progress {
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
    double loss = 0;      // mean since the last call
    double accuracy = 0;  // top-1
    double accuracy5 = 0;
    double images_per_second = 0;  // 0: the first step alone, which is not timed
    double stall_percent = 0;      // since the last call
  };
  std::function<void(const Progress&)> progress{};
  /// How long the source lasts, where that is known: then the rate is that from where it has
  /// settled (loader/tuning/settling.h). 0: over all steps but the first.
  double seconds = 0;
  /// Only the first so many batches are uploaded; later steps reuse what the device holds, and the
  /// source's batches only count steps. 0: all.
  std::uint64_t uploads = 0;
  /// Every so many steps, and not on the clock: a time to save or to evaluate. Gets the steps done
  /// in all.
  std::uint64_t pause_every = 0;  // 0: never
  std::function<void(std::uint64_t)> pause{};
  /// What to go back to when training has diverged ("lenet.st at step 400"); "": nothing.
  std::function<std::string()> last_good{};
};

struct TrainResult {
  std::uint64_t steps = 0;
  std::uint64_t images = 0;
  std::uint64_t timed_images = 0;        // all but the first step's
  double seconds = 0;                    // wall, for those
  double wait_seconds = 0;               // of which waiting for batches
  double images_per_second = 0;          // over `seconds`, but what was warming up
  double stall_percent = 0;              // 100 × wait / seconds, the same
  std::optional<double> warmup_seconds;  // of `seconds`; absent: not known
  double loss = 0;                       // mean over the last report window
  double accuracy = 0;
  double accuracy5 = 0;
  std::vector<TrainOptions::Progress> curve;
};

/// Throws Error when the loss of a step is not finite, naming the step, the first layer whose
/// output was not, and what to go back to.
TrainResult train(Session& session, loader::BatchSource& source, const TrainOptions& options);

struct Evaluation {
  std::uint64_t images = 0;
  double loss = 0;
  double accuracy = 0;   // top-1, 0 … 1
  double accuracy5 = 0;  // top-5
  double seconds = 0;
};
Evaluation evaluate(Session& session, loader::BatchSource& source);

}  // namespace feedrate::trainer
