// max(0, x), in place.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
namespace {

class Relu final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes&, std::span<const Extent> inputs) const override {
    return only_input(inputs);
  }
};

const Relu relu_row("relu", "max(0, x)",
                    {.backward_reads_output = true, .in_place = true, .is_relu = true});

}  // namespace

extern const Op& relu_op;
const Op& relu_op = relu_row;

}  // namespace feedrate::trainer
