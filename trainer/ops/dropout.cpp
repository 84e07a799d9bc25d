// In training, sets a share of the values to zero and scales the others by 1 / (1 − share); in
// evaluation, does nothing. The mask is a pure function of (seed, step, node, element), computed
// again in the backward pass.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Dropout final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const double share = attributes.number("share");
    if (!(share >= 0 && share < 1)) {
      throw Error(join("'share' must be at least 0 and below 1, not ", share));
    }
    return only_input(inputs);
  }
};

const Dropout dropout_row("dropout", "in training, sets a share of the values to zero: share",
                          {.in_place = true});

}  // namespace

extern const Op& dropout_op;
const Op& dropout_op = dropout_row;

}  // namespace feedrate::trainer
