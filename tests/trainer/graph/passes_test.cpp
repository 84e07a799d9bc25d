#include "trainer/graph/passes.h"

#include <gtest/gtest.h>

#include "trainer/networks/network.h"

namespace feedrate::trainer {
namespace {

struct Counted {
  std::size_t calls = 0;
  double image_bytes = 0;
};
Counted count(std::string_view name, std::uint32_t batch, std::string_view precision) {
  const Network& row = network(name);
  const Plan plan = make_plan(row.build(row.published_input(), row.published_classes()), batch);
  Counted counted;
  for (const Pass& pass : count_passes(plan, {}, precision)) {
    ++counted.calls;
    counted.image_bytes += pass.values / batch;
  }
  return counted;
}

TEST(UnitPasses, a_convolution_reads_its_output_gradient_once_for_each_gradient) {
  Builder b("conv", {8, 8, 1}, 3);
  const auto x = b.conv(b.input(1), 4, 1, 1, 0, {.no_bias = true});
  const Plan plan =
      make_plan(b.softmax_loss(b.dense(b.conv(x, 2, 1, 1, 0, {.no_bias = true}), 3, {})), 2);
  double forward = 0, weights = 0, inputs = 0;
  for (const Pass& pass : count_passes(plan, {}, "bf16")) {
    if (pass.op != "conv") continue;
    if (pass.what == "forward") forward += pass.values;
    if (pass.what == "weight gradient") weights += pass.values;
    if (pass.what == "input gradient") inputs += pass.values;
  }
  const double plane = 2.0 * 2 * 64;  // batch × bytes × pixels, of one channel
  EXPECT_EQ(forward, plane * (1 + 4) + plane * (4 + 2));
  EXPECT_EQ(weights, plane * (1 + 4) + plane * (4 + 2));
  EXPECT_EQ(inputs, plane * (2 + 4)) << "pixels need no gradient";
}

TEST(UnitPasses, bytes_of_an_image_do_not_depend_on_the_batch) {
  EXPECT_DOUBLE_EQ(count("googlenet", 8, "bf16").image_bytes,
                   count("googlenet", 64, "bf16").image_bytes);
  EXPECT_EQ(count("googlenet", 8, "bf16").calls, count("googlenet", 64, "bf16").calls);
}

}  // namespace
}  // namespace feedrate::trainer
