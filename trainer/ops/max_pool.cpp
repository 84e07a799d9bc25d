// The largest value of each window; padding never wins. With `ceil` (Caffe's rule) a last partial
// window counts too, as long as it starts inside the image or its leading pad.

#include "trainer/op.h"
#include "trainer/ops/check.h"

namespace feedrate {
namespace {

std::int64_t pooled(const Window& window, std::int64_t side, bool ceil) {
  std::int64_t positions = window.positions(side);
  if (ceil) {
    const std::int64_t room = side + 2 * window.pad - window.kernel;
    positions = (room + window.stride - 1) / window.stride + 1;
    if ((positions - 1) * window.stride >= side + window.pad) --positions;
  }
  return positions;
}

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
    return {in.channels, pooled(window, in.height, ceil), pooled(window, in.width, ceil)};
  }
  // Backends keep which position won, so neither the input nor the output need live on.
  bool backward_reads_input() const override { return false; }
  bool backward_reads_output() const override { return false; }
};

const MaxPool row("max_pool", "largest value of each window: kernel, stride, pad, ceil");

}  // namespace

extern const Op& max_pool_op;
const Op& max_pool_op = row;

}  // namespace feedrate
