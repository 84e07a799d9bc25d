#pragma once
// The limit of a training step on the CPU: its convolutions and dense layers alone, forward and
// both gradients, each layer by the faster of oneDNN (in whatever layouts it likes best) and matrix
// products (one thread for each share of the images or columns; in fp32). Where factors may be bf16
// they are where that is faster. No unfolding of patches, no reorders, no bias: nothing else that a
// step needs.

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/graph/plan.h"

namespace feedrate::testing {
using namespace trainer;

class Limit {
 public:
  /// Tries every way on every layer.
  Limit(const Plan& plan, unsigned threads, bool bf16 = false);
  /// Runs every product of one step.
  void step() const;

 private:
  std::vector<std::function<void()>> layers_;
};

}  // namespace feedrate::testing
