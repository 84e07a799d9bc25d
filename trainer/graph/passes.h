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

/// Channels of one pixel of the input as it lies in device memory. If only convolutions read pixels
/// of 3 channels, they get channels of zeros up to 16 bytes, which engines load at once.
std::int64_t stored_pixel_channels(const Graph& graph, std::size_t value_bytes);

}  // namespace feedrate::trainer
