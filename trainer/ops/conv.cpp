// Two-dimensional convolution: square kernel, zero padding. `groups` divides the channels and the
// filters into that many groups; each group of filters reads one group of channels.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Conv final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const override {
    const Extent& in = only_input(inputs);
    const Window window(attributes);
    const std::int64_t groups = groups_of(attributes);
    const std::int64_t filters = at_least(attributes, "filters", 1);
    if (in.channels % groups != 0 || filters % groups != 0) {
      throw Error(join(groups, " groups do not divide ", in.channels, " channels and ", filters,
                       " filters"));
    }
    return {filters, window.positions(in.height), window.positions(in.width)};
  }
  std::vector<Parameter> parameters(const Attributes& attributes,
                                    std::span<const Extent> inputs) const override {
    const std::int64_t filters = attributes.integer("filters");
    const std::int64_t kernel = attributes.integer("kernel");
    const std::int64_t channels = inputs[0].channels / groups_of(attributes);
    std::vector<Parameter> all{{.name = "weight", .shape = {filters, channels, kernel, kernel}}};
    if (attributes.integer("no_bias") == 0) all.push_back({.name = "bias", .shape = {filters}});
    return all;
  }
  std::uint64_t macs(const Attributes& attributes, std::span<const Extent> inputs,
                     Extent output) const override {
    const std::int64_t kernel = attributes.integer("kernel");
    const std::int64_t channels = inputs[0].channels / groups_of(attributes);
    return static_cast<std::uint64_t>(output.elements() * channels * kernel * kernel);
  }
};

const Conv conv_row("conv", "convolution: filters, kernel, stride, pad, groups, no_bias",
                    {.backward_reads_input = true, .weights = WeightKind::filters});

}  // namespace

extern const Op& conv_op;
const Op& conv_op = conv_row;

}  // namespace feedrate::trainer
