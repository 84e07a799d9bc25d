#pragma once
// Which sample sits in which seat of a run.

#include <optional>

#include "formats/dataset.h"
#include "loader/engine/crop_indexes.h"
#include "loader/engine/plan.h"
#include "loader/order/order.h"
#include "loader/pixels/packed_seat.h"
#include "loader/recipe.h"

namespace feedrate::loader::detail {

/// What all workers share. Immutable.
struct Job {
  const formats::Dataset& dataset;
  const Recipe& recipe;
  formats::Shape shape;  // of every image in a batch
  std::uint64_t seed;
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
  std::uint64_t epoch_size() const {
    return order.picks != nullptr ? order.picks->size() : dataset.size();
  }
};

/// Holds the order of one epoch at a time. One thread at a time.
class RunOrder {
 public:
  explicit RunOrder(const Job& job) : job_(job) {}

  /// Prepares index() for the run's epoch.
  void enter(const Run& run) {
    if (order_ && epoch_ == run.batch.epoch) return;
    epoch_ = run.batch.epoch;
    order_.emplace(job_.epoch_size(), job_.seed, epoch_, job_.order.shuffle, job_.order.window);
  }
  /// What of the epoch sits in seat `seat` of the run: from 0, each once an epoch. By it, a sample's
  /// random draws are numbered.
  std::uint64_t place(const Run& run, std::uint32_t seat) const {
    const std::uint64_t position = run.batch.first + run.seat + seat;
    const std::uint64_t size = job_.epoch_size();
    return order_->index(position < size ? position : position % size);
  }
  /// The index of the sample at that place.
  std::uint64_t index(std::uint64_t place) const {
    return job_.order.picks != nullptr ? job_.order.picks->index(job_.seed, epoch_, place) : place;
  }

 private:
  const Job& job_;
  std::optional<Order> order_;  // of epoch_
  std::uint64_t epoch_ = 0;
};

}  // namespace feedrate::loader::detail
