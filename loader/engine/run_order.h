#pragma once
// Which sample sits in which seat of a run.

#include <optional>

#include "formats/crops/crop_index.h"
#include "formats/dataset.h"
#include "loader/engine/plan.h"
#include "loader/order/order.h"
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
  bool counts;  // whether to keep all counters
  const formats::CropIndex* crops;  // null: none

  std::size_t seat_bytes() const { return shape.bytes() * bytes_of(pixels.type); }
};

/// Holds the order of one epoch at a time. One thread at a time.
class RunOrder {
 public:
  explicit RunOrder(const Job& job) : job_(job) {}

  /// Prepares index() for the run's epoch.
  void enter(const Run& run) {
    if (order_ && epoch_ == run.batch.epoch) return;
    epoch_ = run.batch.epoch;
    order_.emplace(job_.dataset.size(), job_.seed, epoch_, job_.order.shuffle, job_.order.window);
  }
  /// The index of the sample in seat `seat` of the run.
  std::uint64_t index(const Run& run, std::uint32_t seat) const {
    const std::uint64_t position = run.batch.first + run.seat + seat;
    const std::uint64_t size = job_.dataset.size();
    return order_->index(position < size ? position : position % size);
  }

 private:
  const Job& job_;
  std::optional<Order> order_;  // of epoch_
  std::uint64_t epoch_ = 0;
};

}  // namespace feedrate::loader::detail
