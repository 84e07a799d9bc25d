#pragma once
// Passes over memory that nodes of a plan share, and those that run side by side. The nodes and
// their numbers stay the same; fuse() says which node does the work of which, and moves gradients
// accordingly.
//
// On CUDA, a residual sum does the work of its norms, since a kernel may begin only when a norm's
// sums are complete. On the CPU, the last norm does the work of the sum, while its values are still
// in a cache. There, a norm needs no help from the plan for its relu's gradient.

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/graph/plan.h"

namespace feedrate::trainer {

inline constexpr std::size_t no_node = std::numeric_limits<std::size_t>::max();

/// Which passes are fused, or do not wait for each other. Each can be turned off by its name, for
/// comparison.
struct Fusions {
  bool norm_sum = true;       // "norm-sum": a residual sum normalises its inputs
  bool sum_gradient = true;   // "sum-gradient": one kernel adds gradients and sums for norms
  bool relu_gradient = true;  // "relu-gradient": a norm's backward computes that of its relu
  bool norm_pool = true;      // "norm-pool": a max_pool normalises, and a norm gathers for it
  bool weight_branch = true;  // "weight-branch": see Fused::beside
  bool early_kernels = true;  // "early-kernels": see Fused::early_kernels
  /// The CPU's way: see BlockEnd::last_norm.
  bool by_last_norm = false;
};
/// All but those in $FEEDRATE_UNFUSED: names separated by commas, or "all". Throws Error for an
/// unknown name.
Fusions fusions_of_environment();

/// relu(branch + shortcut), the end of a residual block. At least one of the two is normalised.
///
///   conv ─ norm ─ sum ─ relu      norms[0] and norms[1]: those that only the sum reads
///          norm ─┘
struct BlockEnd {
  std::size_t sum = no_node;
  std::size_t relu = no_node;
  std::array<std::size_t, 2> norms{no_node, no_node};  // by input of the sum
  bool forward = false;  // the sum also normalises; its norms only find their statistics
  /// The sum's backward also does the relu's and finds its norms' sums; with two norms, it computes
  /// the gradients of their inputs, too.
  bool backward = false;
  /// With `backward`: the relu's output gradient has a second term, which is added there too: the
  /// gradient that node `reader` computes for its input number `input`.
  std::size_t reader = no_node;
  std::size_t input = 0;
  /// With Fusions::by_last_norm, the norm right before the sum. It computes the end in its own
  /// passes: forward in its own turn, backward in that of the sum. Other norms work as usual.
  std::size_t last_norm = no_node;

  bool has_two_norms() const { return norms[0] != no_node && norms[1] != no_node; }
};

/// A residual sum's output gradient is also that of its second input. It is read where it lies.
struct Alias {
  std::size_t sum = no_node;
  /// The node after whose backward it is added to what other readers of the input have computed;
  /// no_node if it is the whole gradient, or the second term of a BlockEnd.
  std::size_t joins = no_node;
};

struct Fused {
  std::vector<BlockEnd> block_ends;
  std::vector<Alias> aliases;
  std::vector<bool> masked_norms;  // by node: norms whose backward computes that of their relu
  /// By node, for masked norms: the max_pool behind the relu, where it alone reads the relu. It
  /// normalises what it reads, and the norm's backward gathers from its output gradient. Else
  /// no_node.
  std::vector<std::size_t> pools;
  /// By node: its backward finds the gradients of its parameters beside what follows, until the
  /// next such node begins. What they read lives until then.
  std::vector<bool> beside;
  /// A kernel that follows another may start while that one ends.
  bool early_kernels = false;

  /// Those of a residual sum; null if it has none.
  const BlockEnd* end_of(std::size_t sum) const;
  const Alias* alias_of(std::size_t sum) const;
  /// The block end whose sum normalises for this norm, or finds its sums in backward; else null.
  const BlockEnd* end_with_norm(std::size_t norm) const;
  /// The block end of which the gradient for a node's input is the second term; else null.
  const BlockEnd* end_with_term(std::size_t reader, std::size_t input) const;
  /// The max_pool of a norm and the norm of a max_pool; no_node if it has none.
  std::size_t pool_of(std::size_t norm) const;
  std::size_t norm_of(std::size_t pool) const;
  bool is_beside(std::size_t node) const { return node < beside.size() && beside[node]; }
  /// Whether another node computes this node's backward.
  bool gradient_done(const Plan& plan, std::size_t node) const;
};

/// Finds what can be fused and changes the plan's gradients: their homes, lifetimes and sums; where
/// a norm computes a sum, also when the sum's output begins to live. Residual sums that are
/// `left_out` stay as they are.
Fused fuse(Plan& plan, const Fusions& wanted, std::span<const std::size_t> left_out = {});

}  // namespace feedrate::trainer
