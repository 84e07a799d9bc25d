// The largest value of each window; padding never wins. With `ceil` (Caffe's rule) a last partial
// window counts too if it starts inside the image or its leading pad.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class MaxPool final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    const Window window(attributes);
    if (window.kernel > 15) {
      throw Error(join("a window of ", window.kernel, " is larger than 15, the largest supported"));
    }
    const bool ceil = attributes.integer("ceil") != 0;
    return {in.channels, window.pooled(in.height, ceil), window.pooled(in.width, ceil)};
  }
};

// Backends save the position of each maximum, so backward reads neither input nor output.
const MaxPool max_pool_row("max_pool", "largest value of each window: kernel, stride, pad, ceil",
                           {.pooling = Pooling::maximum});

}  // namespace

extern const Op& max_pool_op;
const Op& max_pool_op = max_pool_row;

}  // namespace feedrate::trainer
