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

// The stem of a network for images of that extent: a convolution and a dense layer.
StoredExtent stored_for(Shape image, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                        std::size_t value_bytes) {
  Builder b("stem", image, 3);
  const auto x = b.conv(b.input(1), 8, kernel, stride, pad, {});
  return stored_input(b.softmax_loss(b.dense(x, 3, {})), value_bytes);
}

TEST(UnitPasses, strided_stems_read_blocks_of_pixels) {
  const StoredExtent resnet = stored_for({224, 224, 3}, 7, 2, 3, 2);
  EXPECT_EQ(resnet.extent, (Extent{16, 115, 115})) << "4 pixels of 3 channels, and 4 of zeros";
  EXPECT_EQ(resnet.block, 2);
  EXPECT_EQ(resnet.pad, 3);
  EXPECT_EQ(stored_for({224, 224, 3}, 7, 2, 3, 4).extent, (Extent{12, 115, 115}));
  EXPECT_EQ(stored_for({227, 227, 3}, 11, 4, 0, 2).extent, (Extent{48, 57, 57}));
}

TEST(UnitPasses, other_stems_read_pixels_as_they_are_or_padded_to_16_bytes) {
  EXPECT_EQ(stored_for({32, 32, 3}, 3, 1, 1, 2).extent, (Extent{8, 32, 32}));
  EXPECT_EQ(stored_for({32, 32, 3}, 3, 1, 1, 4).extent, (Extent{4, 32, 32}));
  EXPECT_EQ(stored_for({29, 29, 3}, 2, 3, 0, 2).block, 3);
  const StoredExtent cut = stored_for({36, 36, 3}, 2, 5, 0, 2);
  EXPECT_EQ(cut.block, 1) << "blocks of 5 would leave the last row out";
  EXPECT_EQ(stored_for({28, 28, 1}, 5, 2, 0, 2).extent, (Extent{1, 28, 28}));
  Builder b("two", {16, 16, 3}, 3);
  const auto pixels = b.input(1);
  const auto both = b.concat({b.conv(pixels, 8, 3, 2, 1, {}), b.conv(pixels, 8, 1, 2, 0, {})});
  EXPECT_EQ(stored_input(b.softmax_loss(b.dense(both, 3, {})), 2).block, 1) << "two readers";
}

TEST(UnitPasses, bytes_of_an_image_do_not_depend_on_the_batch) {
  EXPECT_DOUBLE_EQ(count("googlenet", 8, "bf16").image_bytes,
                   count("googlenet", 64, "bf16").image_bytes);
  EXPECT_EQ(count("googlenet", 8, "bf16").calls, count("googlenet", 64, "bf16").calls);
}

}  // namespace
}  // namespace feedrate::trainer
