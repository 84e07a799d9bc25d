// ResNet-50 for ImageNet: stages of 3, 4, 6 and 3 bottlenecks. v1.5 (torchvision's, the usual
// benchmark) strides in a block's 3x3 convolution, v1 (the paper's) in its first 1x1.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

enum class Stride { in_first, in_middle };

Value conv_norm(Builder& b, Value x, std::int64_t filters, std::int64_t kernel,
                std::int64_t stride) {
  const Builder::Layer layer{.weight = {Init::Rule::he_fan_out, 0}, .no_bias = true};
  return b.batch_norm(b.conv(x, filters, kernel, stride, kernel / 2, layer), {});
}

Value bottleneck(Builder& b, Value x, std::int64_t width, std::int64_t stride, bool projected,
                 Stride where) {
  const bool first = where == Stride::in_first;
  Value y = b.relu(conv_norm(b, x, width, 1, first ? stride : 1));
  y = b.relu(conv_norm(b, y, width, 3, first ? 1 : stride));
  y = conv_norm(b, y, 4 * width, 1, 1);
  return b.relu(b.sum(y, projected ? conv_norm(b, x, 4 * width, 1, stride) : x));
}

template <Stride where>
Graph resnet(Builder& b, std::uint32_t classes) {
  Value x = b.relu(conv_norm(b, b.input(1.0 / 58, 115), 64, 7, 2));
  x = b.max_pool(x, 3, 2, 1);
  const struct {
    int blocks;
    std::int64_t width;
  } stages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  for (const auto& stage : stages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::int64_t stride = i == 0 && stage.width != 64 ? 2 : 1;
      x = bottleneck(b, x, stage.width, stride, i == 0, where);
    }
  }
  x = b.global_avg_pool(x);
  return b.softmax_loss(b.dense(x, classes, {.weight = {Init::Rule::gaussian, 0.01}}));
}

// The rate falls to a tenth every 30 epochs of ImageNet.
TrainRecipe resnet_recipe() {
  return {.batch = 256,
          .update = {.momentum = 0.9, .decay = 1e-4},
          .schedule = {.policy = "step", .rate = 0.1, .gamma = 0.1, .step_size = 150150}};
}

const Network resnet50_row("resnet50", "bottlenecks that stride in their 3x3 convolution (v1.5)",
                           {imagenet_image, 1000, resnet_recipe(), resnet<Stride::in_middle>,
                            "imagenet-train"});
const Network resnet50_v1_row("resnet50:v1",
                              "bottlenecks that stride in their first 1x1 convolution",
                              {imagenet_image, 1000, resnet_recipe(), resnet<Stride::in_first>,
                               "imagenet-train"});

}  // namespace

extern const Network &resnet50_network, &resnet50_v1_network;
const Network& resnet50_network = resnet50_row;
const Network& resnet50_v1_network = resnet50_v1_row;

}  // namespace feedrate::trainer
