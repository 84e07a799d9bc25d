#pragma once
// The limit of a training step on the CPU: its convolutions and dense layers alone, forward and
// both gradients, each layer by the faster of oneDNN (in the layouts that it chooses) and matrix
// products (in fp32, one thread for each share of the images or columns). Factors are bf16 where
// that is allowed and faster. Nothing else of a step is included: no unfolding of patches, no
// reorders, no bias.

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/graph/memory_plan.h"

namespace feedrate::testing {
using namespace trainer;

class Limit {
 public:
  /// Tries every method on every layer.
  Limit(const Plan& plan, unsigned threads, bool bf16 = false);
  /// Runs every product of one step.
  void step() const;

 private:
  std::vector<std::function<void()>> layers_;
};

}  // namespace feedrate::testing
