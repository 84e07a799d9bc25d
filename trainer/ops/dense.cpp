// Fully connected: every output is a weighted sum of all inputs plus a bias.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
namespace {

class Dense final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    only_input(inputs);
    return {at_least(attributes, "units", 1), 1, 1};
  }
  std::vector<Parameter> parameters(const Attributes& attributes,
                                    std::span<const Extent> inputs) const override {
    const std::int64_t units = attributes.integer("units");
    return {{.name = "weight", .shape = {units, inputs[0].elements()}},
            {.name = "bias", .shape = {units}}};
  }
  std::uint64_t macs(const Attributes&, std::span<const Extent> inputs,
                     Extent output) const override {
    return static_cast<std::uint64_t>(inputs[0].elements() * output.channels);
  }
};

const Dense dense_row("dense", "fully connected with bias: units",
                      {.backward_reads_input = true, .weights = WeightKind::matrix});

}  // namespace

extern const Op& dense_op;
const Op& dense_op = dense_row;

}  // namespace feedrate::trainer
