#pragma once
// Fusion: several nodes share one pass over memory, or run side by side. The nodes and their
// numbers stay the same; fuse() says which node computes what, and changes the plan's gradients
// accordingly.
//
// "norm-sum", "sum-gradient": the end of a residual block, relu(branch + shortcut).
//
//   forward    conv ─► norm ─┐                 On CUDA the sum also normalises, because a kernel may
//                            ├─► sum ─► relu   begin only when a norm's statistics are complete. On
//                   shortcut ┘                 the CPU the last norm computes sum and relu, while its
//                                              values are still in a cache.
//   backward   norm ◄─┐                        One pass masks the relu's gradient, adds a second term
//                     ├─ sum ◄─ relu ◄─ …      if there is one, and finds the norms' sums.
//           shortcut ◄┘
//
// An aliased gradient: the gradient of a sum's second input is that of the sum's output, unchanged.
// It is read in the sum's buffer instead of being copied:
//
//           branch ◄─┐
//                    ├─ sum                    gradient of shortcut = gradient of sum
//         shortcut ◄─┘
//
// "relu-gradient": conv ◄─ [norm ◄─ relu]. The norm's backward masks the relu's gradient as it reads
// it. (A CPU norm does so without help from the plan.)
//
// "weight-branch": the gradients of a node's parameters are computed beside those of its input:
//
//   … ◄─ input gradients of conv2 ◄─ input gradients of conv3 ◄─ …
//           └─ weights of conv2         └─ weights of conv3        on a branch of its own

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/graph/memory_plan.h"

namespace feedrate::trainer {

/// Which passes are fused, or do not wait for each other. Each can be turned off by its name, for
/// comparison.
struct Fusions {
  bool norm_sum = true;       // "norm-sum": a residual sum normalises its inputs
  bool sum_gradient = true;   // "sum-gradient": one kernel adds gradients and sums for norms
  bool relu_gradient = true;  // "relu-gradient": a norm's backward computes that of its relu
  bool weight_branch = true;  // "weight-branch": see Fused::weight_branch
  bool early_kernels = true;  // "early-kernels": see Fused::early_kernels
  /// As on the CPU: see BlockEnd::last_norm.
  bool by_last_norm = false;
};
/// All but those in $FEEDRATE_UNFUSED: names separated by commas, or "all". Throws Error for an
/// unknown name.
Fusions fusions_of_environment();

/// relu(branch + shortcut), the end of a residual block. At least one of the two is normalised.
struct BlockEnd {
  std::size_t sum = no_node;
  std::size_t relu = no_node;
  // By input of the sum: a norm that only the sum reads.
  std::array<std::size_t, 2> norms{no_node, no_node};
  bool forward = false;  // the sum also normalises; its norms only find their statistics
  /// The sum's backward also does the relu's and finds its norms' sums; with two norms, it computes
  /// the gradients of their inputs, too.
  bool backward = false;
  /// With `backward`, if the relu's output gradient is a sum of two terms: the sum's backward adds
  /// the one that this node computes for its input of this number.
  std::size_t term_reader = no_node;
  std::size_t term_input = 0;
  /// With Fusions::by_last_norm, the norm right before the sum. It computes the end in its own
  /// passes: forward in its own turn, backward in that of the sum. Other norms work as usual.
  std::size_t last_norm = no_node;

  bool has_two_norms() const { return norms[0] != no_node && norms[1] != no_node; }
};

/// An aliased gradient: that of a residual sum's second input, read in the buffer of the sum's own.
struct Alias {
  std::size_t sum = no_node;
  /// The node after whose backward it is added to the terms of other readers of the input; no_node
  /// if it is the whole gradient, or the second term of a BlockEnd.
  std::size_t added_after = no_node;
};

struct Fused {
  std::vector<BlockEnd> block_ends;
  std::vector<Alias> aliases;
  std::vector<bool> masked_norms;  // by node: norms whose backward computes that of their relu
  /// By node: the gradients of its parameters are computed beside what follows in backward, until
  /// the next such node begins. What they read lives until then. Only small products are.
  std::vector<bool> weight_branch;
  /// A kernel that follows another may start while that one ends.
  bool early_kernels = false;

  /// The block end and the alias of a residual sum; null if it has none.
  const BlockEnd* end_of(std::size_t sum) const;
  const Alias* alias_of(std::size_t sum) const;
  /// The block end whose sum normalises for this norm, or finds its sums in backward; else null.
  const BlockEnd* end_with_norm(std::size_t norm) const;
  /// The block end of which the gradient for a node's input is the second term; else null.
  const BlockEnd* end_with_term(std::size_t reader, std::size_t input) const;
  bool on_branch(std::size_t node) const {
    return node < weight_branch.size() && weight_branch[node];
  }
  /// Whether another node computes this node's backward.
  bool gradient_done(const Plan& plan, std::size_t node) const;
};

/// Finds what can be fused and changes the plan's gradients: their buffers, lifetimes and sums.
/// Where a norm computes a sum, the sum's output lives from the norm on. Residual sums that are
/// `left_out` stay as they are.
Fused fuse(Plan& plan, const Fusions& wanted, std::span<const std::size_t> left_out = {});

}  // namespace feedrate::trainer
