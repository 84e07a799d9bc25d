#pragma once
// Everything known before step one: a graph at a batch size, how long each tensor lives, and where
// in an arena it may lie.

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// From the moment it is written to the moment it is last read, in the order of a training step:
/// forward of node i is moment i, backward of node i is moment 2n-1-i.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;  // inclusive
};

struct Plan {
  Graph graph;
  std::uint32_t batch = 0;
  std::vector<Lifetime> activations;  // by node: its output
  std::vector<Lifetime> gradients;    // by node: the gradient of its output; unused where there is
                                      // none (has_gradient)
  // By node: the node in whose memory it lies. Itself, unless it works in place; the home's
  // lifetime covers its guests'.
  std::vector<std::size_t> activation_homes;
  std::vector<std::size_t> gradient_homes;
  std::vector<bool> learns;         // by node: it or a node before it has something to learn
  std::vector<bool> training_only;  // by node: not run in evaluation
  // By node, by input: backward comes to the nodes in reverse, so of those that read one value the
  // last writes its gradient, and what the others find has to be added.
  std::vector<std::vector<bool>> adds;

  /// Whether anybody wants the gradient of node i's output: it learns and is no loss.
  bool has_gradient(std::size_t i) const;
};

Plan make_plan(Graph graph, std::uint32_t batch);

/// The relu that alone reads node i, in its memory; 0 where there is none.
std::size_t relu_after(const Plan& plan, std::size_t i);

/// Places blocks (sizes in bytes, 0 for none) so that two whose lifetimes meet do not overlap.
struct Arena {
  std::vector<std::size_t> offsets;  // multiples of `alignment`, by block
  std::size_t bytes = 0;             // of the whole arena
};
Arena plan_arena(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes,
                 std::size_t alignment = 64);

/// The start values of a parameter, canonical order: a pure function of (seed, its number,
/// element).
std::vector<float> initial_values(const Parameter& parameter, std::size_t number,
                                  std::uint64_t seed);

}  // namespace feedrate::trainer
