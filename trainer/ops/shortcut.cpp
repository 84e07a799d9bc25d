// The shortcut of a residual block without parameters (He's option A): every stride-th value of
// each channel, followed by channels of zeros up to the number of filters.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
namespace {

class Shortcut final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    const std::int64_t stride = at_least(attributes, "stride", 1);
    return {at_least(attributes, "filters", in.channels), (in.height - 1) / stride + 1,
            (in.width - 1) / stride + 1};
  }
};

const Shortcut shortcut_row("shortcut",
                            "every stride-th value, and channels of zeros: filters, stride");

}  // namespace

extern const Op& shortcut_op;
const Op& shortcut_op = shortcut_row;

}  // namespace feedrate::trainer
