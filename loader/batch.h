#pragma once
// What a loader hands to a trainer, and where its pixels live.

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/image.h"

namespace feedrate {

struct Batch {
  std::uint64_t number = 0;  // counts through all epochs, from 0
  std::uint64_t epoch = 0;
  std::uint32_t count = 0;         // images in it: the batch size, less in an epoch's last one
  Shape shape;                     // of each image
  std::span<std::uint8_t> pixels;  // count × shape, u8 HWC, one image after the other
  std::span<std::int32_t> labels;  // count
  bool last_of_epoch = false;
};

/// Anything batches come from. One consumer thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, or null at the end. It stays valid, and its slot in use, until the next call.
  virtual const Batch* next() = 0;
  virtual Shape shape() const = 0;
  virtual std::uint32_t batch_size() const = 0;
};

/// Where slots get their pixel memory: plain by default, pinned when the trainer is a GPU.
class PixelMemory {
 public:
  virtual ~PixelMemory() = default;
  /// At least `bytes` bytes, 64-byte aligned, every page touched. Throws Error when there are none.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;
};
PixelMemory& plain_memory();

}  // namespace feedrate
