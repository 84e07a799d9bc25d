// Local response normalisation across channels (Krizhevsky et al. 2012):
//
//   y = x · s^-beta,   s = k + alpha / size · Σ x² over the `size` channels around x's own
//
// Caffe and PyTorch divide alpha by size, too; TensorFlow does not.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Lrn final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const std::int64_t size = at_least(attributes, "size", 1);
    if (size % 2 == 0) throw Error(join("'size' must be odd, not ", size));
    const double alpha = attributes.number("alpha"), k = attributes.number("k");
    if (!(alpha >= 0)) throw Error(join("'alpha' must be at least 0, not ", alpha));
    if (!(k > 0)) throw Error(join("'k' must be above 0, not ", k));
    return only_input(inputs);
  }
};

const Lrn lrn_row("lrn", "local response normalisation across channels: size, alpha, beta, k",
                  {.backward_reads_input = true});

}  // namespace

extern const Op& lrn_op;
const Op& lrn_op = lrn_row;

}  // namespace feedrate::trainer
