#pragma once
// The loader: reads, decodes and augments samples in parallel, directly into batches, in an order
// that is a pure function of (seed, epoch). The bytes are the same at any thread count.
//
//            refill the slot just given back
//       ┌──────────────────────────────────────────┐
//       ▼                                          │
//  [ filling ] [ filling ] [ filled ] [ in use by the trainer ]      depth ≥ 3 slots
//       ▲            ▲          │
//   exactly `threads` workers;       next() waits here, and the wait is timed here

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/dataset.h"
#include "loader/bad.h"
#include "loader/batch.h"
#include "loader/order/picks.h"
#include "loader/recipe.h"
#include "loader/tuning/tuner.h"

namespace feedrate::loader {

/// What happens to the images at an epoch's end that do not fill a batch.
enum class LastBatch : std::uint8_t {
  partial,  // a smaller batch, which ranks share evenly; an Error if some would get no image
  drop,     // no batch
  wrap,     // a full batch, completed with the epoch's first images
  pad,      // a smaller one, of one size on all ranks: the epoch's first images complete it
};

/// What becomes of an epoch's images, or groups of them, that ranks cannot share evenly.
enum class UnevenShares : std::uint8_t {
  one_more,   // the first ranks get one more, in a partial last batch
  repeat,     // all get one more: the epoch's first images come again, as in LastBatch::pad
  leave_out,  // no rank gets one
};

/// At which size images are decoded.
enum class DecodedSize : std::uint8_t {
  full,
  scaled,  // JPEGs at 1/2, 1/4 or 1/8 where a crop is that many times the size it is resized to:
           // faster, and other pixels. For recipes that resize, of datasets of JPEGs.
};
/// "full", "scaled".
constexpr std::string_view name(DecodedSize size) {
  return size == DecodedSize::full ? "full" : "scaled";
}
/// Whether the recipe makes large images smaller, so that they can be decoded scaled.
bool shrinks(const Recipe& recipe);
/// Throws Error where the images of a dataset cannot be decoded at that size for a recipe.
void check_decoded(const formats::Dataset& dataset, const Recipe& recipe, DecodedSize size);

/// Throws Error where the recipe makes no image smaller, so that none could be decoded scaled.
void expect_shrinks(const Recipe& recipe);

/// Threads of all loaders in a process, at most: as many as oneTBB guarantees.
inline constexpr unsigned max_loader_threads = 256;
/// How many threads a loader should have on this machine: one for each usable core, less one when
/// the consumer itself computes and its thread needs a core. At least 1.
unsigned loader_cores(bool consumer_computes);

/// Where a run stands. As LoaderOptions::start it resumes the run at the next batch, with any number
/// of threads and ranks and any batch size.
struct LoaderState {
  std::uint64_t seed = 1;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // images of the epoch handed out so far, by all ranks together
  /// The seed of what is drawn for a sample or a batch. Nothing: `seed`, which otherwise decides the order alone.
  std::optional<std::uint64_t> draws{};
  std::uint64_t seed_of_draws() const { return draws.value_or(seed); }
  bool operator==(const LoaderState&) const = default;
};

struct LoaderOptions {
  struct Pixels {
    PixelType type = PixelType::u8;  // what batches hold: pixels, or numbers …
    PixelScales scales{};            // … made with these, which must be the network's
    std::size_t packed_bytes = 0;    // packed: bytes of an image at most; 0: twice those of its
                                     // pixels and 64 KiB
    std::optional<PixelLayout> layout{};  // nothing: the usual one of the type
    PixelDeviations deviations{};         // to divide by, instead of multiplying by scales

    PixelLayout wanted_layout() const { return layout.value_or(usual_layout(type)); }
    /// Numbers are then (pixel - mean) / deviation. One value for all channels, or one for each; no
    /// means: 0, no deviations: 1. Throws Error for other counts and deviations that are not above 0.
    void set_scales(const std::vector<double>& means,
                    const std::vector<double>& deviations_by_channel, std::uint32_t channels);
  };
  struct Order {
    bool shuffle = true;
    std::uint64_t window = 0;  // shuffle among this many neighbours; 0: the whole epoch
    std::uint64_t block = 0;   // neighbours that stay together: see loader/order/block_order.h
    LastBatch last = LastBatch::partial;
    /// What an epoch holds; null: every sample once. Outlives the loader. A sample's random draws are
    /// then those of its pick in the epoch, since it may come several times.
    const Picks* picks = nullptr;
  };
  /// Ranks share each epoch: their batches k, concatenated in the order of the ranks, are batch k
  /// of a single loader with batches of ranks × batch images.
  struct Share {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    /// Whether ranks take their batches together, so that all need as many. Otherwise a partial last
    /// batch that is too small for all goes to the first of them.
    bool in_step = true;
    UnevenShares uneven = UnevenShares::one_more;
    /// Images of a step are dealt to the ranks one by one, as PyTorch's DistributedSampler does, and
    /// not a batch at a time. Not for groups.
    bool interleaved = false;
    void check() const;  // throws Error unless the rank is below their number
  };
  struct Bad {
    BadPolicy policy = BadPolicy::fail;
    std::uint64_t budget = 100;  // bad samples, each counted once; one more is an Error
  };
  /// Changes how fast batches come, never what they hold.
  struct Engine {
    unsigned max_threads = 0;       // the limit of set_threads() and tune; 0: `threads`
    bool tune = false;              // find the best number of threads, 1 … max_threads
    unsigned io_threads = 1;        // threads that read ahead of the workers; 0: none
    unsigned depth = 0;             // slots; 0: max(3, max_threads + 2), up to 16 for tiny batches
    PixelMemory* memory = nullptr;  // null: plain_memory()
    bool crop_index = true;         // use feedrate.crops beside the data, where there is one
  };
  struct Diagnosis {
    bool trace = false;  // record events for write_trace()
    bool counts = true;  // false: stats() has only images, batches and waits, to measure what the
                         // other counters cost; ignored with trace or tune
  };

  unsigned threads = 2;      // workers; 0: next() fills each batch in its own thread (reference)
  std::uint32_t batch = 64;  // images
  std::uint64_t epochs = 1;  // to hand out, a resumed one included; 0: without end
  LoaderState start{};
  Pixels pixels{};
  DecodedSize decoded = DecodedSize::full;
  Order order{};
  Share share{};
  Bad bad{};
  Engine engine{};
  Diagnosis diagnosis{};
};

/// Of baseline JPEGs that were decoded in part: how much of their scans was decoded, and how many
/// with the crop index.
struct CropStats {
  std::uint64_t parts = 0;
  std::uint64_t indexed = 0;
  std::uint64_t stale = 0;                // entries that did not fit, which changes no pixel
  std::uint64_t mcus_read = 0, mcus = 0;  // MCUs, the units of a JPEG's scan, of all in the images
  std::uint64_t bytes_read = 0, bytes = 0;  // of their bytes
};

/// Sums since construction. busy_* are seconds, summed over workers.
struct LoaderStats {
  std::uint64_t images = 0;  // handed out
  std::uint64_t batches = 0;
  std::uint64_t bytes_read = 0;   // encoded
  std::uint64_t asked_ahead = 0;  // samples requested from the system ahead of the workers
  double busy_read = 0;
  double busy_decode = 0;
  double busy_augment = 0;
  double wait_seconds = 0;        // of the consumer in next(), with no batch ready
  double first_wait_seconds = 0;  // of these, for the very first batch (start-up)
  double alive_seconds = 0;       // since construction, when filling began
  std::uint64_t shrunk = 0;       // images decoded at less than their size
  std::uint64_t bad_seats = 0;    // replaced or skipped, in batches handed out
  std::uint64_t repeated =
      0;                      // of images: again in their epoch, since shares or batches were short
  double mean_filled = 0;     // batches that were ready at a call of next(), on average
  unsigned threads = 0;       // workers now
  unsigned workers_seen = 0;  // distinct threads that filled a seat (1 with threads = 0)
  CropStats crops{};
};

/// One consumer thread calls next(). The dataset and the recipe must outlive the loader. An Error
/// in a worker is thrown by the next() that would return its batch; it names the sample and ends
/// the loader: from then on next() returns null. The destructor may run at any moment and joins all
/// threads. Bad samples are handled as options.bad.policy says; a batch whose samples are all skipped
/// is left out.
class Loader : public BatchSource {
 public:
  /// Starts to fill batches. Throws Error when the recipe does not suit the dataset, when they do
  /// not suit options.decoded, or when the options give no batch.
  Loader(const formats::Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
  ~Loader() override;

  const Batch* next() override;
  /// Waits until next() need not wait, but for `limit` at most; false when it still has to. Like
  /// next(), it ends the use of the last batch. For callers that must look elsewhere meanwhile.
  bool wait(std::chrono::nanoseconds limit);
  /// Keeps the memory of the batch returned last: while a copy of the result lives, its images,
  /// labels and indices stay as they are, also after the loader. Its slot goes on with the memory of
  /// a batch that nobody keeps any more, or with new memory, which options.engine.memory gives and
  /// which must outlive all copies. Consumer thread, before the next call; any thread may drop it.
  std::shared_ptr<const std::byte> keep() const;
  formats::Shape shape() const override;
  std::uint32_t batch_size() const override;
  std::uint64_t batches_per_epoch() const;
  /// How many batches it holds at most, the one in use included.
  unsigned slots() const;
  /// Images in batches that are filled and not yet handed out. Consumer thread.
  std::uint64_t ready_images() const;
  /// Sets the number of workers, from 1 to max_threads. The batches stay the same; a worker that is
  /// no longer wanted finishes its run first. Throws Error, and changes nothing, when there cannot
  /// be that many. Consumer thread.
  void set_threads(unsigned threads);
  /// What options.engine.tune has found so far. Consumer thread.
  const Tuning& tuning() const;
  /// The state after the batch returned last. Consumer thread.
  LoaderState state() const;
  /// The bad samples of all batches returned so far, in that order, each once. Consumer thread.
  const std::vector<BadSample>& bad_samples() const;
  LoaderStats stats() const;  // any thread
  /// Why the crop index beside the data cannot be used, and how to make it again: a sentence. Empty
  /// where it is used, where there is none, and where it was not asked for. Any thread.
  const std::string& crop_index_problem() const;
  /// Writes a Chrome/Perfetto trace of every worker and of the consumer. Throws Error without
  /// options.diagnosis.trace, or when the file cannot be written.
  void write_trace(const std::filesystem::path& file) const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// Repeats a few batches held in memory, to measure a trainer whose data cost nothing (demand).
class Replay : public BatchSource {
 public:
  /// Copies up to `distinct` batches from `source`, then returns them in turn, `steps` times in all
  /// (0: without end). Throws Error when the source has none.
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
