// Normalises each channel to mean 0 and deviation 1, then applies a learned scale and shift.
// Training uses the mean and biased variance of the batch's actual images, and updates the running
// statistics (with the unbiased variance), which evaluation uses.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class BatchNorm final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const double epsilon = attributes.number("epsilon");
    const double momentum = attributes.number("momentum");
    if (!(epsilon > 0)) throw Error(join("'epsilon' must be above 0, not ", epsilon));
    if (!(momentum >= 0 && momentum <= 1)) {
      throw Error(join("'momentum' must be from 0 to 1, not ", momentum));
    }
    return only_input(inputs);
  }
  std::vector<Parameter> parameters(const Attributes&,
                                    std::span<const Extent> inputs) const override {
    const std::vector<std::int64_t> shape{inputs[0].channels};
    return {{.name = "weight", .shape = shape},
            {.name = "bias", .shape = shape},
            {.name = "running_mean", .shape = shape, .learned = false},
            {.name = "running_var",
             .shape = shape,
             .init = {Init::Rule::constant, 1},
             .learned = false}};
  }
};

// In place for gradients only, since backward reads the input.
const BatchNorm batch_norm_row(
    "batch_norm", "each channel to mean 0 and deviation 1: epsilon, momentum",
    {.backward_reads_input = true, .in_place = true, .scales_channels = true});

}  // namespace

extern const Op& batch_norm_op;
const Op& batch_norm_op = batch_norm_row;

}  // namespace feedrate::trainer
