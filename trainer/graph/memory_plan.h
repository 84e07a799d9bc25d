#pragma once
// Everything that is decided before the first step: a graph at a batch size, how long each tensor
// lives, and where it lies in an arena.

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// From the moment a tensor is written to the moment it is last read, in the order of a step:
/// forward of node i is moment i, backward of node i is moment 2n-1-i.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;  // inclusive
};

struct Plan {
  Graph graph;
  std::uint32_t batch = 0;
  std::vector<Lifetime> activations;  // by node: its output
  std::vector<Lifetime> gradients;    // by node: of its output; unused without has_gradient()
  // By node: the node in whose buffer its output or gradient lies; itself, unless the buffer is
  // shared in place. The lifetime of a shared buffer covers those of all nodes that share it.
  std::vector<std::size_t> activation_buffers;
  std::vector<std::size_t> gradient_buffers;
  std::vector<bool> learns;         // by node: it or a node that leads to it has parameters
  std::vector<bool> training_only;  // by node: not run in evaluation
  // By node, by input: whether backward must add to the input's gradient. Backward visits the nodes
  // in reverse: the last of several readers writes the gradient of a value, the others add to it.
  std::vector<std::vector<bool>> adds;

  /// Whether the gradient of node i's output is needed: the node learns and is not a loss.
  bool has_gradient(std::size_t i) const;
};

Plan make_plan(Graph graph, std::uint32_t batch);

/// The relu that works in place on node i's output; no_node where there is none.
std::size_t relu_after(const Plan& plan, std::size_t i);

/// Places blocks (sizes in bytes, 0 for none) so that blocks alive at the same time do not overlap.
struct Arena {
  std::vector<std::size_t> offsets;  // multiples of `alignment`, by block
  std::size_t bytes = 0;             // of the whole arena
};
Arena plan_arena(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes,
                 std::size_t alignment = 64);

/// Initial values of a parameter in canonical order: a pure function of (seed, number, element).
std::vector<float> initial_values(const Parameter& parameter, std::size_t number,
                                  std::uint64_t seed);

}  // namespace feedrate::trainer
