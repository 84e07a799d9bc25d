#pragma once
// What the kernels that decode have to know of each image of a batch. The host writes it; it is
// trivially copyable. Places are offsets in bytes into the memory that all images share.
//
//   packed bytes ─ samples ─► planes ─ colours ─► pixels                      (nothing is resized)
//                                        └──────► colours ─ across ─► squeezed ─ down ─► pixels

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/pixels/resize_axis.h"
#include "loader/pixels/packed_seat.h"
#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

/// The samples of a component: those of the MCUs that the image needs.
struct Plane {
  std::uint64_t at = 0;        // in the scratch memory
  std::uint32_t x = 0, y = 0;  // of the first sample, counted in samples of the whole image
  std::uint32_t stride = 0;    // a multiple of 8
};

/// Where a block of an MCU belongs.
struct BlockPlace {
  std::uint8_t component = 0, x = 0, y = 0;  // in blocks
};

/// One direction of resizing. Weight k of target t lies at weights_at + 4 · (k · span.count + t),
/// so that neighbouring threads read neighbours.
struct AxisJob {
  formats::ResizeSpan span;
  std::uint32_t source = 0;  // the first source pixel that the span needs
  std::uint64_t weights_at = 0;
  std::uint64_t first_at = 0;  // u32 for each target: its first source pixel, counted from `source`
  std::uint64_t count_at = 0;  // u32 for each target: weights
};

/// What the colours are computed for: the image of the batch or, where it is resized, the part of
/// the stored image that it needs.
struct Canvas {
  std::int32_t x = 0, y = 0;  // of its first pixel in the stored image
  std::uint32_t width = 0, height = 0;
  bool mirrored = false;
};

struct ImageJob {
  bool packed = false;  // else the loader made the pixels, and no kernel has work
  bool resized = false;
  std::uint8_t channels = 0;     // of the image of the batch
  std::uint8_t block_count = 0;  // of an MCU
  BlockPlace blocks[formats::max_mcu_blocks];
  formats::PackedPart image;
  formats::Rect part;           // of the stored image; what lies outside is black
  std::uint64_t packed_at = 0;  // in the uploaded memory; a multiple of 16
  Plane planes[formats::max_jpeg_components];
  Canvas canvas;
  std::uint64_t colours_at = 0;  // in the scratch memory; only where resized, as is what follows
  std::uint64_t squeezed_at = 0;
  std::uint32_t squeezed_stride = 0;  // a multiple of 4
  AxisJob across, down;
};

/// Memory of the device that all images of a launch share.
struct DecodeMemory {
  const std::byte* uploaded = nullptr;
  std::byte* scratch = nullptr;
  std::byte* pixels = nullptr;      // image after image
  std::uint32_t* faults = nullptr;  // by image: 1 where a block is damaged
  std::uint64_t image_bytes = 0;    // of `pixels`, for each image
};

/// Consecutive images of a batch.
struct JobRange {
  const ImageJob* jobs = nullptr;  // of the whole batch, on the device
  unsigned first = 0;
  unsigned count = 0;
};

/// The job for what a seat holds. Its packed bytes will lie at `packed_at`. Scratch memory is laid
/// out from `scratch` on, which becomes its end.
ImageJob make_job(const loader::PackedSeat& seat, std::uint8_t channels, std::uint64_t packed_at,
                  std::uint64_t& scratch);

/// Each queues one kernel. The limits are the largest of the range's images.
void unpack_samples(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                    unsigned max_runs);
void compute_colours(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                     std::uint64_t max_pixels);
void compute_weights(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                     std::uint64_t max_targets);
void resize_across(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                   std::uint64_t max_pixels);
void resize_down(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                 std::uint64_t max_pixels);

}  // namespace feedrate::trainer::cuda
