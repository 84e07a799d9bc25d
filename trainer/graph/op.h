#pragma once
// An operator's backend-free half: shapes, parameters, cost. Backends keep their own half in
// trainer/backends/cpu/layers/<name>.cpp and trainer/backends/cuda/layers/<name>.cu; trainer/ops/list.inc names each op once.

#include <span>

#include "formats/base/kind.h"
#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// Stateless; any thread.
class Op : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Extent of the output; throws Error when the inputs do not fit.
  virtual Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const = 0;
  /// Parameters' names ("weight", "bias"), shapes; inits and scales are filled in by the Builder,
  /// but for statistics that are not learned.
  virtual std::vector<Parameter> parameters(const Attributes& attributes,
                                            std::span<const Extent> inputs) const;
  /// Multiply-adds forward for one image; only conv and dense have any.
  virtual std::uint64_t macs(const Attributes& attributes, std::span<const Extent> inputs,
                             Extent output) const;
  /// What backward reads: decides how long activations live.
  virtual bool backward_reads_input() const = 0;
  virtual bool backward_reads_output() const = 0;
  /// True when the output may take the first input's memory, and that input's gradient the
  /// output's (relu).
  virtual bool in_place() const { return false; }
  /// True when the graph may end here: nothing reads the output.
  virtual bool is_loss() const { return false; }
};

/// All ops, in the order of help.
std::span<const Op* const> ops();
const Op& op(std::string_view name);

}  // namespace feedrate::trainer
