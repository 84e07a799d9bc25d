// Softmax and cross-entropy, mean over the batch. Its output is the probabilities, in place of the
// logits; loss and correctness go to the session's metrics.

#include "trainer/op.h"
#include "trainer/ops/check.h"

namespace feedrate {
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
    return {classes, 1, 1};
  }
  bool backward_reads_input() const override { return false; }
  bool backward_reads_output() const override { return true; }
  bool in_place() const override { return true; }
  bool is_loss() const override { return true; }
};

const SoftmaxLoss row("softmax_loss", "softmax, cross-entropy and top-1 correctness: classes");

}  // namespace

extern const Op& softmax_loss_op;
const Op& softmax_loss_op = row;

}  // namespace feedrate
