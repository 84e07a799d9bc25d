// The mean of each window over the positions inside the image: padding does not count. With `ceil`
// a last partial window counts too. `bins`, instead of a window, divides each side evenly among
// that many outputs; 1 gives the mean of the whole channel.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class AvgPool final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    if (attributes.contains("bins")) {
      const std::int64_t bins = at_least(attributes, "bins", 1);
      if (bins > in.height || bins > in.width) {
        throw Error(join(bins, " bins are more than the ", in.height, "x", in.width, " values"));
      }
      return {in.channels, bins, bins};
    }
    const Window window(attributes);
    const bool ceil = attributes.integer("ceil") != 0;
    return {in.channels, window.pooled(in.height, ceil), window.pooled(in.width, ceil)};
  }
};

const AvgPool avg_pool_row("avg_pool", "mean of each window: kernel, stride, pad, ceil; or bins",
                           {.pooling = Pooling::mean});

}  // namespace

extern const Op& avg_pool_op;
const Op& avg_pool_op = avg_pool_row;

}  // namespace feedrate::trainer
