#pragma once
// The memory passes of a training step on CUDA, counted without a device (trainer/graph/passes.h).

#include <cstdint>
#include <string>

namespace feedrate::tools {

struct PassCountsRequest {
  std::string network;
  std::string precision = "fp32";
  std::uint32_t batch = 0;  // 0: as the network was published
};

/// A table of the passes of each kind with their bytes, and their sums. Throws Error for an unknown
/// name.
std::string pass_counts_text(const PassCountsRequest& request);
/// The same as a JSON object.
std::string pass_counts_json(const PassCountsRequest& request);

}  // namespace feedrate::tools
