#pragma once
// What one worker owns to fill chunks: the memory for reading and decoding, and its counters.

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "loader/engine/batch_plan.h"
#include "loader/engine/chunk_order.h"
#include "loader/engine/counters.h"
#include "loader/engine/image_maker.h"
#include "loader/engine/pixel_values.h"
#include "loader/engine/slot_ring.h"
#include "loader/engine/trace.h"
#include "loader/pixels/render.h"
#include "loader/recipe.h"

namespace feedrate::loader::detail {

/// Mixes the images in the first `count` seats of the slot, which are filled, by one of the recipe's
/// mixers. `scratch` grows to an image.
void mix_batch(const Job& job, const BatchRange& range, std::uint32_t count, Slot& slot,
               formats::Buffer& scratch);

/// One thread at a time.
class alignas(64) Filler {
 public:
  Filler(const Job& job, std::uint32_t chunk_length, TraceLane* lane);

  /// Fills the chunk's seats. Bad samples are replaced or skipped and recorded in the slot as faults;
  /// an error is recorded in the slot and names the sample. Throws nothing. Returns early, with
  /// seats unfilled, when `stop` is set.
  void fill(const Chunk& chunk, Ring& ring, Slot& slot, const std::atomic<bool>& stop);

  /// Mixes the images of a batch whose first `count` seats are filled, as the recipe says.
  void mix(const BatchRange& range, std::uint32_t count, Slot& slot);

  const WorkerCounters& counters() const { return counters_; }

 private:
  /// Throws std::bad_alloc alone.
  void fill_seats(const Chunk& chunk, Ring& ring, Slot& slot, const std::atomic<bool>& stop);
  // Where the chunk's first image goes, with its label and its index.
  struct Seats {
    std::byte* pixels;
    std::int32_t* labels;
    std::uint64_t* indices;
  };

  // A sample of the chunk on its way to its seat. Each has its own scratch, so that the whole chunk
  // can be read first and then decoded.
  struct Item {
    std::uint64_t pick = 0;  // of the epoch; seeds `random`
    std::uint64_t index = 0;
    formats::Sample sample;
    formats::Bytes entry;  // of the crop index
    formats::Scratch scratch;
    bool bad = false;
    SampleRandom random{0, 0, 0};
    View view;
    bool seated = false;       // decoded directly into its seat, or left packed there
    std::uint32_t shrunk = 1;  // decoded at 1/`shrunk` of its size
    formats::PixelRows part;   // otherwise: what the view needs, in `decoded` or in the sample
    formats::Buffer decoded;
  };

  // The stages of a chunk. Each handles all samples before the next starts: the clock is read once a
  // stage, not once a sample, and memory prefetched in one stage has arrived by the next.
  void read_chunk(const Chunk& chunk, const Seats& seats, const std::atomic<bool>& stop);
  // Decodes directly into the seats where possible. Returns whether it was for all samples.
  bool decode_chunk(const Chunk& chunk, std::byte* pixels, const std::atomic<bool>& stop);
  void augment_chunk(const Chunk& chunk, std::byte* pixels, const std::atomic<bool>& stop);
  // Calls `step(item)` for every sample of the chunk that is not bad. A sample whose step throws
  // becomes a fault, or ends the stage under BadPolicy::fail.
  template <class Step>
  void each(const Chunk& chunk, const std::atomic<bool>& stop, Step step);
  // What the dataset reports when one of its files was changed while it was open.
  std::optional<std::string> changed_file() const;
  formats::Bytes entry_of(std::uint64_t index) const;
  void count_parts();
  // All stages for a substitute, into the seat of the bad sample.
  void replace(const Chunk& chunk, const Fault& fault, const Seats& seats);
  // The stages for one sample.
  void decode_item(Item& item, const SampleRandom& random, formats::MutableBytes seat);
  void augment_item(Item& item, formats::MutableBytes seat);
  void make_values(Item& item, formats::MutableBytes seat);
  std::uint32_t shrink_of(const Item& item) const;
  bool shows_whole(const Item& item) const;
  // Whether seats hold pixels as they are rendered: of one channel, planes are no other order.
  bool holds_pixels() const {
    const bool planes = job_.pixels.wanted_layout() == PixelLayout::planar;
    return job_.pixels.type == PixelType::packed ||
           (job_.pixels.type == PixelType::u8 && (job_.shape.channels == 1 || !planes));
  }
  // Where in its seat an image's values go.
  formats::MutableBytes values_in(formats::MutableBytes seat) const;
  void check_sample(const formats::Sample& sample) const;
  std::string reason(const std::exception& error) const;
  std::exception_ptr sample_error(const std::string& problem, bool damaged) const;

  const Job& job_;
  TraceLane* lane_;
  ChunkOrder order_;
  std::vector<Item> items_;             // of the chunk
  std::vector<std::uint64_t> indices_;  // of their samples
  ImageMaker maker_;
  bool works_on_pixels_;
  formats::Buffer scratch_;    // of the mix of a batch
  std::uint32_t current_ = 0;  // the item being processed
  std::vector<Fault> faults_;  // of the chunk
  PixelsToValues to_values_;   // when seats hold numbers or planes
  formats::Buffer pixels_;     // of one image, before they become these
  formats::JpegCounts parts_;  // of the chunk
  WorkerCounters counters_;
};

}  // namespace feedrate::loader::detail
