#pragma once
// The training loop: passes batches from a source to a session and times the wait for data
// separately from the work.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loader/batch.h"
#include "trainer/backends/backend.h"
#include "trainer/schedules/schedule.h"

namespace feedrate::trainer {

struct TrainOptions {
  Schedule schedule{};
  UpdateSettings update{};         // the schedule sets its rate
  std::uint64_t steps = 0;         // stop after this many; 0: when the source ends
  std::uint64_t first_step = 0;    // number of the first step, when training resumes
  std::uint64_t report_every = 0;  // steps between calls of progress; 0: never
  std::uint64_t epoch_steps = 0;   // of an epoch, whose end is reported too; 0: not known
  struct Progress {
    std::uint64_t step = 0;
    std::uint64_t steps = 0;  // since the last call
    std::uint64_t epoch = 0;
    double loss = 0;      // mean since the last call
    double accuracy = 0;  // top-1
    double accuracy5 = 0;
    double images_per_second = 0;  // 0 for the first step, which is not timed
    double stall_percent = 0;      // since the last call
  };
  std::function<void(const Progress&)> progress{};
  /// How long the source lasts, if known: then rates are measured from where they have settled
  /// (loader/tuning/settling.h). 0: over all steps but the first.
  double seconds = 0;
  /// Upload only this many batches; later steps reuse them, and further batches of the source only
  /// count steps. 0: upload all.
  std::uint64_t uploads = 0;
  /// Calls `pause` every this many steps, with the number of steps done, to save or evaluate; its
  /// time is not counted. 0: never.
  std::uint64_t pause_every = 0;
  std::function<void(std::uint64_t)> pause{};
  /// Called once, with a sentence, when a mean loss has grown 1,000-fold over the first step's, or
  /// over that of guessing if the first was smaller: training goes on, but no longer learns.
  std::function<void(const std::string&)> warn{};
  /// The last good checkpoint, for the message on divergence ("lenet.st at step 400"); "": none.
  std::function<std::string()> last_good{};
  /// Called with the steps done in all when an error ends training between two steps, before train()
  /// throws it: one of the source or of another callback. The session can be saved. Not after a
  /// divergence.
  std::function<void(std::uint64_t)> failed{};
  /// Asked after every step with the steps done in all; true ends training there.
  std::function<bool(std::uint64_t)> stop{};
};

struct TrainResult {
  bool stopped = false;  // by TrainOptions::stop
  std::uint64_t steps = 0;
  std::uint64_t images = 0;
  std::uint64_t images_after_first = 0;  // all but those of the first step
  double seconds = 0;                    // wall time of all steps but the first
  double wait_seconds = 0;               // the part of `seconds` spent waiting for batches
  std::optional<double> warmup_seconds;  // part of `seconds`; absent if unknown
  std::uint64_t timed_images = 0;        // without the first step and the warm-up
  double timed_seconds = 0;              // the time that they took
  double images_per_second = 0;          // timed_images / timed_seconds; 0 after a single step
  double stall_percent = 0;              // of timed_seconds, spent waiting
  std::uint64_t loss_steps = 0;          // the last report window
  double loss = 0;                       // mean over these steps
  double accuracy = 0;
  double accuracy5 = 0;
  std::vector<TrainOptions::Progress> curve;
};

/// Throws an Error when the loss of a step is not finite; it names the step, the first layer whose
/// output was not finite, and the last good checkpoint.
TrainResult train(Session& session, loader::BatchSource& source, const TrainOptions& options);

struct Evaluation {
  std::uint64_t images = 0;
  double loss = 0;
  double accuracy = 0;   // top-1, 0 … 1
  double accuracy5 = 0;  // top-5
  double seconds = 0;
};
/// Ends early when a stop is requested (formats/base/stop.h): then the result is of no use.
Evaluation evaluate(Session& session, loader::BatchSource& source);

}  // namespace feedrate::trainer
