#pragma once
// Everything that the probe has said, sorted by loaders. Workers name the iterator that they belong to; some
// speak before it is known, so they are assigned at the end. One thread.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/diagnose/event.h"

namespace feedrate::tools {

/// A part of a batch's time, over the batches whose parts were timed.
struct Work {
  std::vector<BatchMade> batches;  // without their spans; the first `max_kept`
  std::uint64_t detailed = 0;      // batches with spans
  double detailed_wall = 0, detailed_cpu = 0;
  std::uint64_t detailed_samples = 0;
  std::map<std::string, Span> spans;
  std::vector<BatchMade>
      firsts;  // of each process: not typical, and used where there is nothing else

  void add(const BatchMade& batch);
  void add(const Work& other);
  void settle();

 private:
  void add_parts(const BatchMade& batch);
};

struct Epoch {
  EpochBegun begun;
  std::vector<StepBegun> steps;
  std::optional<double> ended;
  std::vector<double>
      imports;  // of each worker: from iter() until it worked, but for torch's import

  /// Until then it went on: a script may have left it.
  double known_end() const;
};

/// What was said about a loader while its loop paused.
struct SweepSeen {
  std::vector<Swept> points;
  std::map<std::uint64_t, Work> work;  // by workers
};

/// What was said about Feedrate's loader in the place of a script's.
struct SwapSeen {
  std::optional<Swapped> made;
  std::string left;  // why not; "": was not asked for, or it was
  std::optional<PixelsDiffer> pixels;
  std::optional<Supplied> before, after;
  std::string unmeasured;
  StoodIn stood_in;
};

/// From a batch until the next one was asked for, or the epoch's end.
struct KnownStep {
  const Epoch* epoch = nullptr;
  const StepBegun* begun = nullptr;
  double next = 0;

  bool is_first() const { return begun == epoch->steps.data(); }
};

/// A loader of one process, or several that were made in the same way, each after the last one's loop.
struct LoaderSeen {
  std::uint64_t process = 0;
  std::optional<std::uint32_t> rank;
  LoaderMade made;
  std::vector<Epoch> epochs;
  std::uint64_t steps = 0;  // in all, kept or not
  std::uint64_t times_made = 1;
  Work work;
  SweepSeen sweep;
  SwapSeen swap;

  /// Its steps, without those that ended nobody knows when: the last one of an epoch that the script left after
  /// several. Where each step has an iterator of its own, as of next(iter(loader)), it lasts until the next one begins.
  std::vector<KnownStep> known_steps() const;
};

class Seen {
 public:
  /// What one process has said more than this often is counted, but not kept: 50,000 steps say as much
  /// as a million.
  static constexpr std::size_t max_kept = 50000;

  void add(ProbeEvent event);
  /// Assigns what workers said. Once, when all has been added.
  void finish();

  std::vector<PythonStarted> pythons;
  std::set<std::uint64_t> processes;  // with the probe
  std::string kept_out;               // a sentence about a Python without it; "": none was seen
  std::string torch;                  // its version; "": not seen
  std::map<std::pair<std::uint64_t, std::uint64_t>, LoaderSeen> loaders;  // by process and number
  std::string refused;                                                    // why there was no sweep
  std::map<std::uint64_t, std::vector<Paused>> pauses;                    // by process
  std::vector<std::string> troubles;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // of `loaders`
  struct Iterator {
    Key loader;
    std::optional<std::uint64_t> sweep;
  };
  /// A number for the program that a process runs: os.execv() starts another, and numbers are used again.
  std::uint64_t run_of(std::uint64_t process) const;
  LoaderSeen& loader_of(const ProbeEvent& event);
  void join_those_made_anew();

  std::map<std::uint64_t, std::uint64_t> runs_;  // of each process, those before the last one
  std::map<std::uint64_t, std::uint32_t> ranks_;
  using Worker = std::pair<std::uint64_t, std::uint64_t>;  // its parent's process and its own
  std::map<Worker, Iterator> iterators_;
  std::map<Worker, Work> made_by_workers_;
  std::vector<std::pair<Worker, WorkerStarted>> started_;
};

}  // namespace feedrate::tools
