// The weights of resizing. Compiled without fused multiply-add (tools/cmake/cuda.cmake), as they
// are on the CPU.

#include "formats/pixels/resize_filter.h"
#include "trainer/backends/cuda/decode/launch.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

// One thread for each target row and column.
struct Weights {
  __device__ std::uint32_t items(const ImageJob& job) const {
    return job.resized ? job.down.span.count + job.across.span.count : 0;
  }
  __device__ void operator()(const ImageJob& job, unsigned, const DecodeMemory& memory,
                             std::uint32_t i) const {
    const bool is_row = i < job.down.span.count;
    const AxisJob& axis = is_row ? job.down : job.across;
    const ResizeSpan& span = axis.span;
    const std::uint32_t t = is_row ? i : i - job.down.span.count;
    const ResizeFilter filter(span);
    const std::uint32_t target = span.begin + (span.mirrored ? span.count - 1 - t : t);
    const std::uint32_t first = filter.first(target);
    auto* weights = reinterpret_cast<std::int32_t*>(memory.scratch + axis.weights_at) + t;
    filter.each_weight(target, [&](std::uint32_t source, std::int32_t weight) {
      weights[std::uint64_t{source - first} * span.count] = weight;
    });
    reinterpret_cast<std::uint32_t*>(memory.scratch + axis.first_at)[t] = first - axis.source;
    reinterpret_cast<std::uint32_t*>(memory.scratch + axis.count_at)[t] =
        filter.end(target) - first;
  }
};

}  // namespace

void compute_weights(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                     std::uint64_t max_targets) {
  each_item("weights_kernel", stream, range, memory, max_targets, Weights{});
}

}  // namespace feedrate::trainer::cuda
