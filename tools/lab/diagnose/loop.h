#pragma once
// A loop over a loader in figures: how long it waits, what it could take, and what a batch costs. Pure
// functions. Times are seconds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/diagnose/left_out.h"
#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

/// A part of making a batch: "decode", "transform:Resize", "own:Blur:train.py:8", "getitem" (what is left
/// of it), "collate".
struct Stage {
  std::string name;
  double wall = 0, cpu = 0;  // of a batch
};

/// What a batch costs the process that makes it.
struct Service {
  std::uint64_t batches = 0;
  double samples = 0;  // of a batch
  double wall = 0;     // as it was
  double cpu = 0;
  double delay = 0;     // waiting for a processor
  double blocked = 0;   // waiting for anything else: storage, mostly
  double put = 0;       // pickling into the queue, by a thread beside
  double median = 0;    // the middle batch, on a processor of its own
  double outliers = 0;  // what those took longer that took several times as long, in all
  double read = 0;      // bytes
  double tensors = 0, bytes = 0, float_bytes = 0;
  double detail = 0;          // share of `wall` that `stages` divide, as they slow it a little
  std::vector<Stage> stages;  // largest first

  /// On a processor of its own.
  double alone() const { return cpu + blocked; }
  /// The same of a stage, whose own waits for a processor nobody counts: its share of all waits.
  double alone(const Stage& stage) const;
};

struct Loop {
  LoaderMade made;
  std::optional<std::uint32_t> rank;
  std::uint64_t steps = 0;
  double samples = 0;          // of a batch
  double time = 0;             // of all that is kept, without pauses
  double waited = 0;           // of it, in next() and iter()
  double starts = 0;           // of that, until the first batch of each epoch
  std::uint64_t started = 0;   // such epochs
  double step = 0;             // the mean, without its wait
  double step_cpu = 0;         // processor time of it, of all its process's threads
  std::uint64_t unwaited = 0;  // steps that did not wait, from whose middle `step` is; 0: from all
  double receive = 0;          // processor time to take a batch from a worker, in the middle
  double pin = 0;              // of a batch
  double imports = 0;          // of a worker before it works, but for torch's; in the middle
  double others = 0;  // in loops over other loaders inside its steps, which are not in `time`
  std::uint64_t epochs = 0;
  std::uint64_t times_made = 1;  // its loader
  Service service{};
  std::vector<Swept> swept{};  // in its pause
  Service alone{};             // of one worker there, or of as many as there were
  SwapSeen swap{};

  /// Of a loader alone, by what it supplied: samples/s, or batches/s where `samples` is not known.
  double rate(const Supplied& of) const {
    return static_cast<double>(of.batches) * (samples > 0 ? samples : 1) / of.time;
  }
  double wait_share() const { return time > 0 ? waited / time : 0; }
  double delivered() const { return time > 0 ? static_cast<double>(counted) * samples / time : 0; }
  double demand() const { return step > 0 ? samples / step : 0; }
  std::uint64_t counted = 0;  // steps in `time`
};

Service service_of(const Work& work);
Loop loop_of(const LoaderSeen& seen, const LeftOut& left_out);

}  // namespace feedrate::tools
