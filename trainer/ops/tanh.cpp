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
};

const Tanh tanh_row("tanh", "hyperbolic tangent",
                    {.backward_reads_output = true, .in_place = true});

}  // namespace

extern const Op& tanh_op;
const Op& tanh_op = tanh_row;

}  // namespace feedrate::trainer
