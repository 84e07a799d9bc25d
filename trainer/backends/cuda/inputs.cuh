#pragma once
// Two batches on the device: while one is computed on, the next is copied into the other, on a
// stream of its own.

#include <array>
#include <cstdint>
#include <optional>

#include "loader/batch.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

class Inputs {
 public:
  Inputs(const formats::Shape& shape, std::uint32_t batch);

  /// Copies a batch over; `batch` may be given back when this returns. Missing images get label −1
  /// and keep the pixels of an earlier batch. The batch fits the plan (check_batch).
  void upload(const Context& context, const loader::Batch& batch);
  /// To be called after a step's work on the current batch was given to context.compute(): after
  /// that of training step `step`, or of one that only evaluates.
  void release_after_work(const Context& context, std::optional<std::uint64_t> step);
  /// Until the batch that the next upload() replaces is no longer worked on. Returns the training
  /// step that was the last to do so, which is done then.
  std::optional<std::uint64_t> wait_for_room() const;
  /// Makes the other side's batch current again, where one was uploaded there.
  void reuse();
  /// Makes the batch of step `number` current again, if it is still here.
  bool select(std::uint64_t number);

  static constexpr std::size_t sides = 2;
  std::size_t current() const { return current_; }
  const std::uint8_t* pixels(std::size_t side) const;
  const std::int32_t* labels(std::size_t side) const;
  /// Of the current batch; 0 before the first.
  std::uint32_t count() const { return sides_[current_].count; }
  std::size_t bytes() const;
  const Copies& copies() const { return copies_; }

 private:
  struct Side {
    Side(std::size_t pixel_bytes, std::uint32_t batch);
    DeviceMemory pixels;
    DeviceMemory labels;
    PinnedArray<std::int32_t> staged_labels;
    Event copied;
    Event released;
    std::optional<std::uint64_t> step{};  // that worked on it last, if that trained
    std::uint32_t count = 0;
  };

  formats::Shape shape_;
  std::array<Side, sides> sides_;
  std::size_t current_ = 0;
  Copies copies_;
};

}  // namespace feedrate::trainer::cuda
