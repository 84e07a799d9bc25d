// A long short-term memory over the rows of an image, from the first to the last; the output is the
// hidden state after the last row. A row holds its channels one after the other, each from left to
// right. Gates are in the order of PyTorch and Keras (in, forget, cell, out) and have one bias,
// where PyTorch adds two.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
namespace {

class Lstm final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    only_input(inputs);
    return {at_least(attributes, "units", 1), 1, 1};
  }
  // Keras' initial values, except for the weight, which Builder::lstm() sets.
  std::vector<Parameter> parameters(const Attributes& attributes,
                                    std::span<const Extent> inputs) const override {
    const std::int64_t units = attributes.integer("units");
    const std::int64_t row = inputs[0].channels * inputs[0].width;
    return {{.name = "weight", .shape = {4 * units, row}},
            {.name = "recurrent",
             .shape = {4 * units, units},
             .init = {Init::Rule::orthogonal_columns, 0}},
            {.name = "bias", .shape = {4 * units}, .init = {Init::Rule::second_quarter, 1}}};
  }
  std::uint64_t macs(const Attributes&, std::span<const Extent> inputs,
                     Extent output) const override {
    const Extent& in = inputs[0];
    const std::int64_t row = in.channels * in.width;
    return static_cast<std::uint64_t>(in.height * 4 * output.channels * (row + output.channels));
  }
};

// Backends save their own copy of the rows, so backward reads neither input nor output.
const Lstm lstm_row("lstm", "long short-term memory over an image's rows: units",
                    {.is_recurrent = true});

}  // namespace

extern const Op& lstm_op;
const Op& lstm_op = lstm_row;

}  // namespace feedrate::trainer
