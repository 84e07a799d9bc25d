// u8 HWC pixels → floats: (pixel − mean) × scale, one pair for all channels or one for each, see
// ops/pixels.h.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Input final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    if (!inputs.empty()) throw Error(join("takes no inputs, not ", inputs.size()));
    return {at_least(attributes, "channels", 1), at_least(attributes, "height", 1),
            at_least(attributes, "width", 1)};
  }
};

const Input input_row("input", "pixels to numbers: (pixel - mean) x scale", {.is_input = true});

}  // namespace

extern const Op& input_op;
const Op& input_op = input_row;

}  // namespace feedrate::trainer
