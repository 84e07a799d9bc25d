#pragma once
// Says which sample fills each seat of a chunk.

#include <optional>

#include "formats/dataset.h"
#include "loader/engine/batch_plan.h"
#include "loader/engine/crop_indexes.h"
#include "loader/order/block_order.h"
#include "loader/pixels/packed_seat.h"
#include "loader/recipe.h"

namespace feedrate::loader::detail {

/// What all workers share. Immutable.
struct Job {
  const formats::Dataset& dataset;
  const Recipe& recipe;
  formats::Shape shape;         // of every image in a batch
  std::uint64_t seed;           // of the order
  std::uint64_t seed_of_draws;  // of each sample, and of the mix of a batch
  LoaderOptions::Order order;
  BadPolicy on_bad;
  LoaderOptions::Pixels pixels;
  DecodedSize decoded;
  bool counts;               // whether to keep all counters
  const CropIndexes* crops;  // null: none

  std::size_t seat_bytes() const {
    return pixels.type == PixelType::packed ? packed_seat_bytes(shape, pixels.packed_bytes)
                                            : shape.bytes() * bytes_of(pixels.type);
  }
  bool mixes() const { return !recipe.mixers().empty(); }
  std::uint64_t epoch_size() const {
    return order.picks != nullptr ? order.picks->size() : dataset.size();
  }
};

/// Holds the order of one epoch at a time. One thread at a time.
class ChunkOrder {
 public:
  explicit ChunkOrder(const Job& job) : job_(job) {}

  /// Prepares index() for the chunk's epoch.
  void enter(const Chunk& chunk) {
    if (order_ && epoch_ == chunk.batch.epoch) return;
    epoch_ = chunk.batch.epoch;
    order_.emplace(job_.epoch_size(), job_.seed, epoch_,
                   Shuffling{job_.order.shuffle, job_.order.window, job_.order.block});
  }
  /// The pick for a seat of the chunk, from 0: each comes once an epoch. It seeds the random draws of
  /// the sample.
  std::uint64_t pick(const Chunk& chunk, std::uint32_t seat) const {
    const std::uint64_t position =
        chunk.batch.first + (chunk.seat + std::uint64_t{seat}) * chunk.batch.stride;
    const std::uint64_t size = job_.epoch_size();
    return order_->index(position < size ? position : position % size);
  }
  /// The index of a pick's sample: without Picks, they are the same.
  std::uint64_t index(std::uint64_t pick) const {
    return job_.order.picks != nullptr ? job_.order.picks->index(job_.seed, epoch_, pick) : pick;
  }

 private:
  const Job& job_;
  std::optional<BlockOrder> order_;  // of epoch_
  std::uint64_t epoch_ = 0;
};

}  // namespace feedrate::loader::detail
