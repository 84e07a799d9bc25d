// a + b, element by element, in place of a.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Add final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes&, std::span<const Extent> inputs) const override {
    if (inputs.size() != 2) throw Error(join("takes 2 inputs, not ", inputs.size()));
    const Extent &a = inputs[0], &b = inputs[1];
    if (a != b) {
      throw Error(join("cannot add ", b.channels, "x", b.height, "x", b.width, " to ", a.channels,
                       "x", a.height, "x", a.width));
    }
    return a;
  }
};

const Add add_row("add", "sum of two inputs", {.in_place = true, .is_residual_sum = true});

}  // namespace

extern const Op& add_op;
const Op& add_op = add_row;

}  // namespace feedrate::trainer
