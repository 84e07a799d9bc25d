// Softmax and cross-entropy, mean over the batch. The output is the probabilities, in place of the
// logits. Loss and correctness (top-1 and top-5) go to the session's metrics; an auxiliary head
// adds only its weighted loss. In training, `smoothing` of each target is spread over all classes.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class SoftmaxLoss final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    const std::int64_t classes = at_least(attributes, "classes", 2);
    if (in.elements() != classes) {
      throw Error(join("got ", in.elements(), " values for each image, but there are ", classes,
                       " classes"));
    }
    const double weight = loss_weight(attributes);
    if (!(weight > 0)) throw Error(join("'weight' must be above 0, not ", weight));
    const double smoothing = attributes.number("smoothing");
    if (!(smoothing >= 0 && smoothing < 1)) {
      throw Error(join("'smoothing' must be from 0 to below 1, not ", smoothing));
    }
    return {classes, 1, 1};
  }
};

const SoftmaxLoss softmax_loss_row(
    "softmax_loss", "softmax, cross-entropy and correctness: classes, auxiliary, weight, smoothing",
    {.backward_reads_output = true, .in_place = true, .is_loss = true});

}  // namespace

extern const Op& softmax_loss_op;
const Op& softmax_loss_op = softmax_loss_row;

}  // namespace feedrate::trainer
