#pragma once
// The passes over memory of a training step as the CUDA backend runs it (with plain SGD), counted
// from the plan: each kernel or library call once, and every value that it reads or writes once.
// What an engine of cuDNN does inside (workspaces, kernels of its own) is not counted.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/fusion.h"
#include "trainer/graph/memory_plan.h"

namespace feedrate::trainer {

/// One kernel or library call: a node of the CUDA graph of a step.
struct Pass {
  std::string_view op;    // the operator; "gradient sums", "update"
  std::string_view what;  // "forward", "filter gradient" …
  double values = 0;      // bytes of activations and their gradients for the batch
  double parameters = 0;  // bytes of parameters, their gradients and state
  bool beside = false;    // on the branch beside the others (Fused::weight_branch)
  bool early = false;     // it starts while the kernel before it ends (Fused::early_kernels)
};

/// In the order of the step, with what fuse() has found in the plan. `precision`: fp32 | tf32 |
/// bf16 | fp16.
std::vector<Pass> count_passes(const Plan& plan, const Fused& fused, std::string_view precision);

/// One image's output of a node as it lies in device memory. Only the input's differs from what the
/// graph says.
struct StoredExtent {
  Extent extent;           // with channels of zeros
  std::int64_t block = 1;  // a pixel in memory is a square of so many pixels a side …
  std::int64_t pad = 0;    // … the first of which lies so many rows and columns before the image
};

/// The input as it lies in memory, if only convolutions read it and its pixels have 3 channels: for
/// tensor cores these are few, and engines load 16 bytes at once. Where one convolution strides over
/// its pixels, a pixel in memory is a square of them, as long as a stride (space to depth), with
/// the zeros around the image that the convolution reads; it strides by 1 then, and its kernel is
/// as many times smaller. Otherwise channels of zeros fill 16 bytes.
StoredExtent stored_input(const Graph& graph, std::size_t value_bytes);
/// The length of a kernel over such pixels.
std::int64_t blocks_of(std::int64_t kernel, std::int64_t block);

}  // namespace feedrate::trainer
