// The residual networks of 6n + 2 layers for CIFAR (He et al. 2015, 4.2): three stages of n blocks
// of two 3x3 convolutions, at 16, 32 and 64 channels; shortcuts without parameters (option A).

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

Value cifar_conv_norm(Builder& b, Value x, std::int64_t filters, std::int64_t stride) {
  const Builder::Layer layer{.weight = {Init::Rule::he_normal, 0}, .no_bias = true};
  return b.batch_norm(b.conv(x, filters, 3, stride, 1, layer), {});
}

Value cifar_block(Builder& b, Value x, std::int64_t filters, std::int64_t stride) {
  Value y = b.relu(cifar_conv_norm(b, x, filters, stride));
  y = cifar_conv_norm(b, y, filters, 1);
  return b.relu(b.sum(y, stride == 1 ? x : b.shortcut(x, filters, stride)));
}

template <int n>
Graph cifar_resnet(Builder& b, std::uint32_t classes) {
  Value x = b.relu(cifar_conv_norm(b, b.input(1.0 / 64, 120), 16, 1));
  for (const std::int64_t filters : {16, 32, 64}) {
    for (int i = 0; i < n; ++i) x = cifar_block(b, x, filters, i == 0 && filters != 16 ? 2 : 1);
  }
  x = b.global_avg_pool(x);
  return b.softmax_loss(b.dense(x, classes, {.weight = {Init::Rule::he_normal, 0}}));
}

// For 64,000 steps; the rate falls to a tenth at steps 32,000 and 48,000.
TrainRecipe cifar_resnet_recipe() {
  return {.batch = 128,
          .update = {.momentum = 0.9, .decay = 1e-4},
          .schedule = {.policy = "multistep", .rate = 0.1, .gamma = 0.1, .steps = {32000, 48000}}};
}

const Network resnet50_cifar_row("resnet50:cifar", "residual network of 6n + 2 layers, n = 8",
                                 {cifar_image, 10, cifar_resnet_recipe(), cifar_resnet<8>,
                                  "cifar-train"});
const Network resnet56_row("resnet56", "residual network of 6n + 2 layers for CIFAR, n = 9",
                           {cifar_image, 10, cifar_resnet_recipe(), cifar_resnet<9>,
                            "cifar-train"});

}  // namespace

extern const Network &resnet50_cifar_network, &resnet56_network;
const Network& resnet50_cifar_network = resnet50_cifar_row;
const Network& resnet56_network = resnet56_row;

}  // namespace feedrate::trainer
