#pragma once
// Where everything that flows through a graph lies in a session's one arena, for every backend:
// activations, their gradients, what layers save from forward to backward, and the parts of
// gradients that are sums because several nodes read one value.

#include "trainer/graph/plan.h"

namespace feedrate::trainer {

/// What has to be known of each node, all in bytes.
struct NodeBytes {
  std::vector<std::size_t> outputs;  // of a whole batch
  std::vector<std::size_t> saved;    // from forward to backward
};

/// A gradient's part and where to add it.
struct GradientSum {
  std::size_t input;  // the node to whose output the gradient belongs
  std::size_t part;   // offset of what is to be added
};

/// Offsets in bytes; those of blocks that nobody wants mean nothing.
struct Places {
  std::vector<std::size_t> activations;                   // by node
  std::vector<std::size_t> gradients;                     // by node: of its output
  std::vector<std::size_t> saved;                         // by node
  std::vector<std::vector<std::size_t>> input_gradients;  // by node, by input: where to write
  std::vector<std::vector<GradientSum>> sums;             // by node: to do after its backward
  std::size_t bytes = 0;
};

Places place_all(const Plan& plan, const NodeBytes& bytes, std::size_t alignment);

}  // namespace feedrate::trainer
