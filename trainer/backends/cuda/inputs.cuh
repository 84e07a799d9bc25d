#pragma once
// Two input buffers on the device: the next batch is copied into one, on its own stream, while a
// step reads the other. Packed JPEGs are decoded into it on a third stream, so that neither the
// step nor the copies of the batch behind wait for that.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "loader/batch.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/image_decoder.h"

namespace feedrate::trainer::cuda {

class BatchDecoder;

class Inputs {
 public:
  /// For batches of u8 pixels or of packed JPEGs.
  Inputs(const formats::Shape& shape, std::uint32_t batch, loader::PixelType type);
  ~Inputs();

  /// Copies a batch to the device and makes it current: what is queued on context.compute() from
  /// now on sees its pixels. The caller may reuse `batch` when this returns. Missing images get
  /// label −1 and keep the pixels of an earlier batch. The batch must fit the plan (check_batch).
  /// Throws Error as BatchDecoder::decode() does.
  void upload(const Context& context, const loader::Batch& batch);
  /// Call it after a step's work on the current batch has been queued on context.compute(). `step`
  /// is the number of a training step; absent where the step only evaluates.
  void release_after_work(const Context& context, std::optional<std::uint64_t> step);
  /// Waits until no step reads the batch that the next upload() replaces. Returns the last training
  /// step that read it, which is then done; absent if the last step only evaluated.
  std::optional<std::uint64_t> wait_for_room() const;
  /// Makes the other side's batch current again, if there is one.
  void reuse();
  /// Makes the batch of training step `number` current again. False if it is no longer here.
  bool select(std::uint64_t number);

  static constexpr std::size_t sides = 2;
  std::size_t current() const { return current_; }
  const std::uint8_t* pixels(std::size_t side) const;
  const std::int32_t* labels(std::size_t side) const;
  /// Images of the current batch; 0 before the first.
  std::uint32_t count() const { return sides_[current_].count; }
  std::size_t bytes() const;
  /// Bytes that decoding may allocate later.
  std::size_t later_bytes() const;
  const Copies& copies() const { return copies_; }
  /// Null where batches hold pixels.
  const DecodeCounts* decoded() const { return decoder_ != nullptr ? &decoded_ : nullptr; }
  /// Once all work is done: throws Error as BatchDecoder::wait() does.
  void expect_decoded();

 private:
  struct Side {
    Side(std::size_t pixel_bytes, std::uint32_t batch);
    DeviceMemory pixels;
    DeviceMemory labels;
    PinnedArray<std::int32_t> staged_labels;
    Event copied;  // and decoded
    Event released;
    std::optional<std::uint64_t> step{};  // the last that read it; absent if it only evaluated
    std::uint32_t count = 0;
  };

  void copy_pixels(cudaStream_t stream, const loader::Batch& batch, Side& side);
  void decode(const Context& context, const loader::Batch& batch, Side& side);

  formats::Shape shape_;
  std::array<Side, sides> sides_;
  std::unique_ptr<BatchDecoder> decoder_;  // of packed JPEGs; null: batches hold pixels
  Stream decoding_;                        // its own
  DecodeCounts decoded_;
  std::size_t current_ = 0;
  Copies copies_;
};

}  // namespace feedrate::trainer::cuda
