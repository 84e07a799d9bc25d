#pragma once
// Places in a session's arena, for every backend: activations, their gradients, what layers save
// from forward to backward, and the terms of gradients that are sums because several nodes read one
// value.

#include "trainer/graph/fusion.h"
#include "trainer/graph/memory_plan.h"

namespace feedrate::trainer {

/// Sizes in bytes, by node.
struct NodeBytes {
  std::vector<std::size_t> outputs;  // of a whole batch
  std::vector<std::size_t> saved;    // from forward to backward
};

/// A term of a gradient and the node whose gradient it is added to.
struct GradientSum {
  std::size_t input;  // the node whose output gradient is the sum
  std::size_t part;   // offset of the term
};

/// Offsets in bytes; those of unused blocks are meaningless.
struct Places {
  std::vector<std::size_t> activations;                   // by node
  std::vector<std::size_t> gradients;                     // by node: of its output gradient
  std::vector<std::size_t> saved;                         // by node
  std::vector<std::vector<std::size_t>> input_gradients;  // by node, by input: to write
  std::vector<std::vector<GradientSum>> sums;             // by node: to add after its backward
  std::vector<std::size_t> terms;  // by node: the second term of a BlockEnd, by its sum
  std::size_t bytes = 0;
};

Places place_all(const Plan& plan, const NodeBytes& bytes, std::size_t alignment,
                 const Fused& fused = {});

}  // namespace feedrate::trainer
