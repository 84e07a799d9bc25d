// The hyperbolic tangent, in place.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
namespace {

class Tanh final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes&, std::span<const Extent> inputs) const override {
    return only_input(inputs);
  }
  bool backward_reads_input() const override { return false; }
  bool backward_reads_output() const override { return true; }
  bool in_place() const override { return true; }
};

const Tanh row("tanh", "hyperbolic tangent");

}  // namespace

extern const Op& tanh_op;
const Op& tanh_op = row;

}  // namespace feedrate::trainer
