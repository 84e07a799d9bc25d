#pragma once
// The loader: reads, decodes and augments samples in parallel, straight into batches, in an order
// that is a pure function of (seed, epoch): the same bytes at any thread count.
//
//            refill the slot just given back
//       ┌──────────────────────────────────────────┐
//       ▼                                          │
//  [ filling ] [ filling ] [ filled ] [ in use by the trainer ]      depth ≥ 3 slots
//       ▲            ▲          │
//   exactly `threads` workers;       next() waits here, and the wait is timed here

#include <cstdint>
#include <filesystem>
#include <memory>

#include "formats/dataset.h"
#include "loader/bad.h"
#include "loader/batch.h"
#include "loader/recipe.h"
#include "loader/tuning/tuner.h"

namespace feedrate::loader {

/// What becomes of the images that fill no batch at an epoch's end.
enum class LastBatch : std::uint8_t {
  partial,  // a smaller batch; ranks share it evenly, and where images are fewer some have none
  drop,     // left out
  wrap,     // filled up with the epoch's first images
};

/// Threads that a loader may have on this machine: every usable core, but one where the consumer
/// computes and wants one for the thread that drives it. At least 1.
unsigned loader_cores(bool consumer_computes);

/// Where a run stands: what to give to LoaderOptions to go on with the next batch, at any number of
/// threads or ranks and in batches of any size.
struct LoaderState {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // images of the epoch given so far, by all ranks together
  bool operator==(const LoaderState&) const = default;
};

struct LoaderOptions {
  unsigned threads = 2;      // workers; 0 fills each batch in the caller's thread (reference)
  unsigned max_threads = 0;  // that set_threads() and tune may go to; 0: `threads`
  bool tune = false;         // finds the best number from 1 to max_threads, starting at `threads`
  std::uint32_t batch = 64;
  PixelType pixels = PixelType::u8;  // what batches hold: pixels, or numbers made by …
  PixelScales scales{};              // … these; the trainer wants its network's
  std::uint64_t seed = 1;
  bool shuffle = true;
  std::uint64_t shuffle_window = 0;  // shuffle only among so many neighbours; 0: the whole epoch
  std::uint64_t epochs = 1;          // epochs to give, the resumed one included; 0: without end
  std::uint64_t first_epoch = 0;     // resume: (seed, first_epoch, first_position) is all of it
  std::uint64_t first_position = 0;  // LoaderState::position
  LastBatch last = LastBatch::partial;
  std::uint32_t rank = 0;   // of `ranks` loaders that share each epoch: step k of all ranks, one
  std::uint32_t ranks = 1;  // after the other, is batch k of one loader with ranks × batch images
  BadPolicy on_bad = BadPolicy::fail;
  std::uint64_t bad_budget = 100;  // bad samples, each counted once; one more is an Error
  unsigned io_threads = 1;         // that have data read from disk ahead of the workers; 0: none
  unsigned depth = 0;              // slots; 0: max(3, max_threads + 2), up to 16 of tiny batches
  PixelMemory* memory = nullptr;   // null: plain_memory()
  bool trace = false;              // keep events for write_trace
  bool counts = true;              // false: stats() tells images, batches and waiting alone, to
                                   // measure what telling more costs; not with trace or tune
};

/// Sums since construction. busy_* are seconds of worker time, summed over workers.
struct LoaderStats {
  std::uint64_t images = 0;  // handed out
  std::uint64_t batches = 0;
  std::uint64_t bytes_read = 0;   // encoded bytes
  std::uint64_t asked_ahead = 0;  // samples that the system was asked for before a worker read them
  double busy_read = 0;
  double busy_decode = 0;
  double busy_augment = 0;
  double wait_seconds = 0;        // the consumer inside next() with no batch ready
  double first_wait_seconds = 0;  // of which for the very first batch (start-up)
  double alive_seconds = 0;       // since construction, when filling began
  std::uint64_t bad_seats = 0;    // in batches handed out: replaced or skipped
  double mean_filled = 0;         // batches that lay ready when next() was called, on average
  unsigned threads = 0;           // at work now
  unsigned workers_seen = 0;      // distinct threads that filled a seat (1 with threads = 0)
};

/// One consumer thread calls next(); the dataset must outlive the loader. An Error in a worker
/// comes out of the next() that would give its batch, names the sample, and ends the loader: from
/// then on next() gives null. Destruction at any moment joins all. Bad samples are treated as
/// options.on_bad says; a batch of which all are skipped is not given.
class Loader : public BatchSource {
 public:
  Loader(const formats::Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
  ~Loader() override;

  const Batch* next() override;
  formats::Shape shape() const override;
  std::uint32_t batch_size() const override;
  std::uint64_t batches_per_epoch() const;
  /// From now on so many workers, 1 … max_threads: one that is too many finishes its run first.
  /// The batches stay the same. Throws Error, and changes nothing, when there cannot be so many.
  /// Consumer thread.
  void set_threads(unsigned threads);
  /// What options.tune has found by now. Consumer thread.
  const Tuning& tuning() const;
  /// Behind the batch given last. Consumer thread.
  LoaderState state() const;
  /// The bad samples of all batches given so far, in their order, each once. Consumer thread.
  const std::vector<BadSample>& bad_samples() const;
  LoaderStats stats() const;  // any thread
  /// A Chrome/Perfetto trace of what every worker and the consumer did (options.trace).
  void write_trace(const std::filesystem::path& file) const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// Repeats a few batches held in memory: what a trainer can do when data costs nothing (demand).
class Replay : public BatchSource {
 public:
  /// Copies `distinct` batches from `source`, then gives `steps` of them in turn (0: without end).
  Replay(BatchSource& source, unsigned distinct, std::uint64_t steps,
         PixelMemory* memory = nullptr);
  ~Replay() override;
  const Batch* next() override;
  formats::Shape shape() const override;
  std::uint32_t batch_size() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::loader
