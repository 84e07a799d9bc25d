#pragma once
// What one worker owns: the memory it reads and decodes with, and its counters. It fills runs.

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "loader/engine/counters.h"
#include "loader/engine/pixel_values.h"
#include "loader/engine/plan.h"
#include "loader/engine/ring.h"
#include "loader/engine/run_order.h"
#include "loader/engine/trace.h"
#include "loader/pixels/render.h"
#include "loader/recipe.h"

namespace feedrate::loader::detail {

/// One thread at a time.
class alignas(64) Filler {
 public:
  Filler(const Job& job, std::uint32_t run_length, TraceLane* lane);

  /// Fills the run's seats. Bad samples are replaced or skipped, and left in the slot as faults; an
  /// error is left in the slot, with the sample's name. Returns early, with seats unfilled, when
  /// `stop` is raised.
  void fill(const Run& run, Ring& ring, Slot& slot, const std::atomic<bool>& stop);

  const WorkerCounters& counters() const { return counters_; }

 private:
  /// A sample of the run. Each has its own scratch, so that a whole run is read, then decoded.
  struct Work {
    std::uint64_t index = 0;
    formats::Sample sample;
    formats::Scratch scratch;
    bool bad = false;
    View view;
    bool seated = false;      // decoded straight into its seat
    formats::PixelRows part;  // otherwise: what the view needs, in `decoded` or in the sample
    formats::Buffer decoded;
  };

  // The stages of a run, one after the other: the clock is read between stages, not samples, and
  // memory that a stage asks for early arrives while it works on.
  void read(const Run& run, std::int32_t* labels, const std::atomic<bool>& stop);
  // Into the seats where views show all of an image: true when all of them do.
  bool decode(const Run& run, std::byte* seats, const std::atomic<bool>& stop);
  void augment(const Run& run, std::byte* seats, const std::atomic<bool>& stop);
  /// `step(work)` for every sample of the run that is not bad; one that throws becomes a fault, or
  /// ends the stage where that is the policy.
  template <class Step>
  void each(const Run& run, const std::atomic<bool>& stop, Step step);
  /// All stages for another sample, into the seat of the bad one.
  /// What the dataset says of a file that was changed under it.
  std::optional<std::string> changed_file() const;
  void replace(const Run& run, const Fault& fault, std::byte* seat, std::int32_t& label);
  // The same for one sample.
  void decode(Work& work, const SampleRandom& random, formats::MutableBytes seat);
  void augment(Work& work, formats::MutableBytes seat);
  void make_values(Work& work, formats::MutableBytes seat);
  bool shows_whole(const Work& work) const;
  void check(const formats::Sample& sample) const;
  void check(const Work& work) const;
  std::string with_place(std::string_view what) const;

  const Job& job_;
  TraceLane* lane_;
  RunOrder order_;
  std::vector<Work> works_;
  std::uint32_t at_ = 0;       // the sample of the run that is being worked on
  std::vector<Fault> faults_;  // of the run
  Renderer renderer_;
  PixelsToValues to_values_;  // where seats hold numbers
  formats::Buffer pixels_;    // of one image, on their way to numbers
  WorkerCounters counters_;
};

}  // namespace feedrate::loader::detail
