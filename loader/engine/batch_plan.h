#pragma once
// Which positions of an epoch form which batch, and how a batch is cut into chunks: pure arithmetic
// on the loader's options. Immutable; any thread.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/base/error.h"
#include "loader/loader.h"

namespace feedrate::loader::detail {

/// A setting that does not suit the samples of an epoch.
class Unsuited : public formats::Error {
 public:
  template <class... Parts>
  explicit Unsuited(std::string_view setting, const Parts&... parts)
      : Error(formats::join(setting, ": ", parts...)), setting_(setting) {}
  /// Its name in the table of settings.
  std::string_view setting() const { return setting_; }
  /// The message without it.
  std::string_view problem() const { return std::string_view(what()).substr(setting_.size() + 2); }

 private:
  std::string_view setting_;
};

struct BatchRange {
  std::uint64_t number = 0;  // from 0, through all epochs
  std::uint64_t epoch = 0;
  std::uint64_t first = 0;   // position in the epoch; past its end, positions restart at 0
  std::uint64_t stride = 1;  // from one image's position to the next one's
  std::uint32_t count = 0;
  std::uint32_t repeated = 0;  // of them, that are past the end
  bool last_of_epoch = false;
  std::uint64_t after = 0;  // position after this step of all ranks
};

/// Consecutive seats of one batch, which a worker fills at a time. Empty at the end of a short
/// batch.
struct Chunk {
  BatchRange batch;
  std::uint32_t seat = 0;
  std::uint32_t count = 0;
};

class Plan {
 public:
  /// `size`: samples of the dataset. `image_bytes`: size of a decoded sample, which decides the
  /// length of chunks. Throws Error when the options give no batch, or some ranks more than others.
  Plan(const LoaderOptions& options, std::uint64_t size, std::size_t image_bytes);

  std::uint64_t batches_per_epoch() const { return per_epoch_; }
  /// Images in the largest batch.
  std::uint32_t max_count() const { return max_count_; }
  /// All batches to hand out, and the chunks in them.
  std::uint64_t batches() const { return batches_; }
  std::uint64_t chunks() const { return batches_ * chunks_per_batch_; }
  unsigned chunks_per_batch() const { return chunks_per_batch_; }
  std::uint32_t chunk_length() const { return chunk_length_; }

  /// Whether the first epoch is at its end: it has no batch left.
  bool starts_at_end() const { return first_batches_ == 0; }

  /// The batch of step `step`, counted from 0 at the start of this run.
  BatchRange batch(std::uint64_t step) const;
  /// The chunk `number`, counted from 0 through these batches.
  Chunk chunk(std::uint64_t number) const;

 private:
  // Batches of this rank in the rest of an epoch, of which `images` are left.
  std::uint64_t batches_in(std::uint64_t images) const;
  void expect_batch_for_each_rank(std::uint64_t left) const;
  // How many of `images`, an epoch or its rest, all ranks get together.
  std::uint64_t shared(std::uint64_t images) const;
  // This rank's share of `images`.
  std::uint32_t share(std::uint64_t images) const;

  std::uint64_t size_;
  std::uint32_t batch_;
  LastBatch last_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  bool in_step_;
  UnevenShares uneven_;
  bool interleaved_;
  std::uint64_t together_;     // images of a group, which stays in one batch
  std::uint64_t step_images_;  // of all ranks
  std::uint32_t max_count_;
  std::uint64_t per_epoch_;
  std::uint64_t first_epoch_;
  std::uint64_t first_position_;
  std::uint64_t first_batches_;  // in the rest of the first epoch
  std::uint64_t batches_;
  std::uint32_t chunk_length_;
  std::uint32_t chunks_per_batch_;
};

}  // namespace feedrate::loader::detail
