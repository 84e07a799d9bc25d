#pragma once
// Decodes batches of packed JPEGs into pixels on the device. Two sides take turns: while the
// kernels read one batch, the next is copied into the other. For one thread.

#include <array>
#include <vector>

#include "trainer/backends/cuda/decode/image_job.cuh"
#include "trainer/backends/image_decoder.h"

namespace feedrate::trainer::cuda {

/// Where the work of a batch is queued; one stream may be both.
struct DecodeStreams {
  cudaStream_t uploads;
  cudaStream_t compute;
};

class BatchDecoder {
 public:
  /// Bytes of scratch memory on the device. Images share a launch as long as they need no more; one
  /// image alone may (max_packed_pixels).
  static constexpr std::size_t max_scratch = std::size_t{256} << 20;

  explicit BatchDecoder(const DecoderSize& size);

  /// Copies a batch to the device and queues its decoding into `pixels`, which has room for a
  /// batch. The caller may reuse `batch` when this returns. Adds what it did to `counts`. Throws
  /// Error where the batch is not of the decoder's size, and, with the sample's index, where a
  /// block of the batch before the last one was damaged.
  void decode(const loader::Batch& batch, std::byte* pixels, const DecodeStreams& streams,
              DecodeCounts& counts);
  /// Waits for all batches. Throws Error where a block was damaged.
  void wait();
  /// Bytes on the device, without the scratch memory, which depends on the images.
  std::size_t bytes() const;

 private:
  // What the images of consecutive jobs need at most.
  struct Group {
    JobRange range;
    std::uint64_t scratch = 0;
    unsigned runs = 0;
    std::uint64_t canvas = 0, targets = 0, squeezed = 0, groups = 0;
  };
  // A place of the batch whose pixels the loader made.
  struct Made {
    std::size_t image;
    std::size_t at;  // in `uploaded`
  };
  struct Side {
    explicit Side(const DecoderSize& size);
    DeviceMemory uploaded;
    DeviceMemory jobs;
    DeviceMemory faults;
    PinnedArray<ImageJob> staged_jobs;
    PinnedArray<std::uint32_t> seen_faults;
    std::vector<std::uint64_t> indices;  // of the samples; empty where these are not known
    std::uint32_t count = 0;             // images; 0: nothing to check
    Event copied;
    Event done;
  };

  void check(const loader::Batch& batch) const;
  static void expect_sound(Side& side);
  std::vector<Group> upload(Side& side, const loader::Batch& batch, cudaStream_t stream,
                            DecodeCounts& counts);
  void add(std::vector<Group>& groups, const ImageJob& job, unsigned number,
           std::uint64_t scratch) const;
  void grow_scratch(const std::vector<Group>& groups, cudaStream_t compute);

  DecoderSize size_;
  std::array<Side, 2> sides_;
  std::size_t current_ = 0;
  DeviceMemory scratch_;
  std::vector<Made> made_;  // of the batch being uploaded
};

}  // namespace feedrate::trainer::cuda
