// Two-dimensional convolution with bias: square kernel, zero padding.

#include "trainer/op.h"
#include "trainer/ops/check.h"

namespace feedrate {
namespace {

class Conv final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    const Window window(attributes);
    return {at_least(attributes, "filters", 1), window.positions(in.height),
            window.positions(in.width)};
  }
  std::vector<Parameter> parameters(const Attributes& attributes,
                                    std::span<const Extent> inputs) const override {
    const std::int64_t filters = attributes.integer("filters");
    const std::int64_t kernel = attributes.integer("kernel");
    return {{.name = "weight", .shape = {filters, inputs[0].channels, kernel, kernel}},
            {.name = "bias", .shape = {filters}}};
  }
  std::uint64_t macs(const Attributes& attributes, std::span<const Extent> inputs,
                     Extent output) const override {
    const std::int64_t kernel = attributes.integer("kernel");
    return static_cast<std::uint64_t>(output.elements() * inputs[0].channels * kernel * kernel);
  }
  bool backward_reads_input() const override { return true; }
  bool backward_reads_output() const override { return false; }
};

const Conv row("conv", "convolution with bias: filters, kernel, stride, pad");

}  // namespace

extern const Op& conv_op;
const Op& conv_op = row;

}  // namespace feedrate
