#pragma once
// Two batches on the device: while one is computed on, the next is copied into the other, on a
// stream of its own.

#include <array>
#include <cstdint>

#include "loader/batch.h"
#include "trainer/backends/cuda/context.cuh"

namespace feedrate::cuda {

class Inputs {
 public:
  Inputs(const Shape& shape, std::uint32_t batch);

  /// Copies a batch over; `batch` may be given back when this returns. Missing images get label −1
  /// and keep the pixels of an earlier batch. The batch fits the plan (check_batch).
  void upload(const Context& context, const Batch& batch);
  /// To be called after work on the current batch was given to context.compute().
  void release_after_work(const Context& context);

  const std::uint8_t* pixels() const;
  const std::int32_t* labels() const;
  std::uint32_t count() const { return count_; }  // of the current batch; 0 before the first
  std::size_t bytes() const;

 private:
  struct Side {
    Side(std::size_t pixel_bytes, std::uint32_t batch);
    DeviceMemory pixels;
    DeviceMemory labels;
    PinnedArray<std::int32_t> staged_labels;
    Event copied;
    Event released;
  };

  Shape shape_;
  std::array<Side, 2> sides_;
  std::size_t current_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace feedrate::cuda
