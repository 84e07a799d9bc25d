// Resizes the colours of the part that an image needs: rows first, then columns, each rounded to
// pixels, as formats/pixels/resize.h does.

#include "trainer/backends/cuda/decode/launch.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

// The weights of target `t`.
struct Taps {
  std::uint32_t first, count, stride;
  const std::int32_t* weights;

  __device__ Taps(const AxisJob& axis, const std::byte* scratch, std::uint32_t t)
      : first(reinterpret_cast<const std::uint32_t*>(scratch + axis.first_at)[t]),
        count(reinterpret_cast<const std::uint32_t*>(scratch + axis.count_at)[t]),
        stride(axis.span.count),
        weights(reinterpret_cast<const std::int32_t*>(scratch + axis.weights_at) + t) {}
  __device__ std::int32_t weight(std::uint32_t k) const {
    return weights[std::uint64_t{k} * stride];
  }
};

__device__ std::int32_t value_of(std::byte pixel) { return static_cast<std::int32_t>(pixel); }

// One thread for each pixel: neighbours read neighbours.
template <unsigned Channels>
__device__ void squeeze(const Taps& taps, const std::byte* row, std::byte* to) {
  const std::byte* from = row + std::uint64_t{taps.first} * Channels;
  std::int32_t sums[Channels] = {};
  for (std::uint32_t k = 0; k < taps.count; ++k) {
    const std::int32_t weight = taps.weight(k);
    for (unsigned c = 0; c < Channels; ++c) sums[c] += value_of(from[k * Channels + c]) * weight;
  }
  for (unsigned c = 0; c < Channels; ++c) to[c] = std::byte{resized_pixel(sums[c])};
}

struct Across {
  __device__ std::uint32_t items(const ImageJob& job) const {
    return job.resized ? job.canvas.height * job.across.span.count : 0;
  }
  __device__ void operator()(const ImageJob& job, unsigned, const DecodeMemory& memory,
                             std::uint32_t i) const {
    const std::uint32_t y = i / job.across.span.count, x = i % job.across.span.count;
    const Taps taps(job.across, memory.scratch, x);
    const std::byte* row =
        memory.scratch + job.colours_at + std::uint64_t{y} * job.canvas.width * job.channels;
    std::byte* to = memory.scratch + job.squeezed_at + std::uint64_t{y} * job.squeezed_stride +
                    x * job.channels;
    job.channels == 1 ? squeeze<1>(taps, row, to) : squeeze<3>(taps, row, to);
  }
};

// One thread for four bytes of a row.
struct Down {
  static constexpr unsigned together = 4;

  __device__ std::uint32_t items(const ImageJob& job) const {
    return job.resized ? job.down.span.count * (job.squeezed_stride / together) : 0;
  }
  __device__ void operator()(const ImageJob& job, unsigned number, const DecodeMemory& memory,
                             std::uint32_t i) const {
    const std::uint32_t groups = job.squeezed_stride / together;
    const std::uint32_t y = i / groups, at = i % groups * together;
    const Taps taps(job.down, memory.scratch, y);
    const std::byte* from =
        memory.scratch + job.squeezed_at + std::uint64_t{taps.first} * job.squeezed_stride + at;
    std::int32_t sums[together] = {};
    for (std::uint32_t k = 0; k < taps.count; ++k, from += job.squeezed_stride) {
      const std::int32_t weight = taps.weight(k);
      const std::uint32_t bytes = *reinterpret_cast<const std::uint32_t*>(from);
      for (unsigned j = 0; j < together; ++j) {
        sums[j] += static_cast<std::int32_t>(bytes >> (8 * j) & 255) * weight;
      }
    }
    const std::uint32_t row_bytes = job.across.span.count * job.channels;
    std::byte* to = memory.pixels + number * memory.image_bytes + std::uint64_t{y} * row_bytes + at;
    if (memory.image_bytes % together == 0 && row_bytes % together == 0) {
      std::uint32_t pixels = 0;
      for (unsigned j = 0; j < together; ++j) {
        pixels |= std::uint32_t{resized_pixel(sums[j])} << (8 * j);
      }
      *reinterpret_cast<std::uint32_t*>(to) = pixels;
      return;
    }
    for (unsigned j = 0; j < together && at + j < row_bytes; ++j) {
      to[j] = std::byte{resized_pixel(sums[j])};
    }
  }
};

}  // namespace

void resize_across(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                   std::uint64_t max_pixels) {
  each_item("across_kernel", stream, range, memory, max_pixels, Across{});
}

void resize_down(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                 std::uint64_t max_pixels) {
  each_item("down_kernel", stream, range, memory, max_pixels, Down{});
}

}  // namespace feedrate::trainer::cuda
