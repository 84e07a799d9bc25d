// AlexNet in three forms: Caffe's (bvlc_alexnet: groups and LRN, as on two GPUs in 2012),
// torchvision's ("one weird trick", one GPU, no LRN), and a small one for CIFAR-10
// (Classification_Nets).

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

Builder::Layer gaussian(double deviation, double bias) {
  return {.weight = {Init::Rule::gaussian, deviation},
          .bias = {Init::Rule::constant, bias},
          .bias_rate_scale = 2,
          .bias_decay_scale = 0};
}

Graph caffe_alexnet(Builder& b, std::uint32_t classes) {
  const Builder::Layer low = gaussian(0.01, 0), high = gaussian(0.01, 0.1);
  Builder::Layer halves = high;
  halves.groups = 2;
  const Builder::Layer wide = gaussian(0.005, 0.1);
  Value x = b.relu(b.conv(b.input(1, 118), 96, 11, 4, 0, low));
  x = b.max_pool_ceil(b.lrn(x, {}), 3, 2);
  x = b.relu(b.conv(x, 256, 5, 1, 2, halves));
  x = b.max_pool_ceil(b.lrn(x, {}), 3, 2);
  x = b.relu(b.conv(x, 384, 3, 1, 1, low));
  x = b.relu(b.conv(x, 384, 3, 1, 1, halves));
  x = b.relu(b.conv(x, 256, 3, 1, 1, halves));
  x = b.max_pool_ceil(x, 3, 2);
  x = b.dropout(b.relu(b.dense(x, 4096, wide)), 0.5);
  x = b.dropout(b.relu(b.dense(x, 4096, wide)), 0.5);
  return b.softmax_loss(b.dense(x, classes, low));
}

Graph torchvision_alexnet(Builder& b, std::uint32_t classes) {
  Value x = b.input(1.0 / 58, 115);
  x = b.max_pool(b.relu(b.conv(x, 64, 11, 4, 2, pytorch_layer(3 * 121))), 3, 2);
  x = b.max_pool(b.relu(b.conv(x, 192, 5, 1, 2, pytorch_layer(64 * 25))), 3, 2);
  x = b.relu(b.conv(x, 384, 3, 1, 1, pytorch_layer(192 * 9)));
  x = b.relu(b.conv(x, 256, 3, 1, 1, pytorch_layer(384 * 9)));
  x = b.max_pool(b.relu(b.conv(x, 256, 3, 1, 1, pytorch_layer(256 * 9))), 3, 2);
  x = b.avg_pool_bins(x, 6);
  x = b.relu(b.dense(b.dropout(x, 0.5), 4096, pytorch_layer(256 * 36)));
  x = b.relu(b.dense(b.dropout(x, 0.5), 4096, pytorch_layer(4096)));
  return b.softmax_loss(b.dense(x, classes, pytorch_layer(4096)));
}

Graph cifar_alexnet(Builder& b, std::uint32_t classes) {
  const Builder::Layer layer{.bias_rate_scale = 2};
  Value x = b.input(1.0 / 64, 120);
  x = b.max_pool_ceil(b.relu(b.conv(x, 24, 7, 1, 3, layer)), 3, 2);
  x = b.max_pool_ceil(b.relu(b.conv(x, 64, 5, 1, 2, layer)), 3, 2);
  x = b.relu(b.conv(x, 96, 3, 1, 1, layer));
  x = b.relu(b.conv(x, 96, 3, 1, 1, layer));
  x = b.max_pool_ceil(b.relu(b.conv(x, 64, 3, 1, 1, layer)), 3, 2);
  x = b.dropout(b.relu(b.dense(x, 512, layer)), 0.5);
  return b.softmax_loss(b.dense(x, classes, layer));
}

TrainRecipe alexnet_recipe() {
  return {.batch = 256,
          .update = {.momentum = 0.9, .decay = 5e-4},
          .schedule = {.policy = "step", .rate = 0.01, .gamma = 0.1, .step_size = 100000}};
}
TrainRecipe cifar_alexnet_recipe() {
  return {.batch = 128,
          .update = {.momentum = 0.9, .decay = 5e-4},
          .schedule = {.policy = "multistep", .rate = 0.01, .gamma = 0.1, .steps = {32000, 48000}}};
}

const Network alexnet_row("alexnet", "torchvision's: one GPU's columns, no LRN",
                          {imagenet_image, 1000, alexnet_recipe(), torchvision_alexnet,
                           "imagenet-train"});
const Network alexnet_caffe_row("alexnet:caffe", "Caffe's: LRN, and convolutions in two groups",
                                {{227, 227, 3}, 1000, alexnet_recipe(), caffe_alexnet, "caffe"});
const Network alexnet_cifar_row("alexnet:cifar", "five small convolutions and two dense layers",
                                {cifar_image, 10, cifar_alexnet_recipe(), cifar_alexnet, "none"});

}  // namespace

extern const Network &alexnet_network, &alexnet_caffe_network, &alexnet_cifar_network;
const Network& alexnet_network = alexnet_row;
const Network& alexnet_caffe_network = alexnet_caffe_row;
const Network& alexnet_cifar_network = alexnet_cifar_row;

}  // namespace feedrate::trainer
