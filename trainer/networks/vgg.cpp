// VGG's configuration D (Simonyan and Zisserman 2014): five stages of 3x3 convolutions, each halved
// by pooling, and dense layers. For CIFAR in its two common forms: with the same dense layers on
// one pixel of 512 channels, or with batch norms and a single dense layer.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

// He's initial values: from the paper's, of deviation 0.01, a network this deep hardly learns.
const Builder::Layer vgg_layer{.weight = {Init::Rule::he_fan_out, 0}};
const Builder::Layer vgg_dense_layer{.weight = {Init::Rule::gaussian, 0.01}};

Value convolutions(Builder& b, bool norms) {
  Value x = b.input(1.0 / 64, 120);
  const struct {
    int convolutions;
    std::int64_t filters;
  } stages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  for (const auto& stage : stages) {
    for (int i = 0; i < stage.convolutions; ++i) {
      x = b.conv(x, stage.filters, 3, 1, 1, vgg_layer);
      x = b.relu(norms ? b.batch_norm(x, {}) : x);
    }
    x = b.max_pool(x, 2, 2);
  }
  return x;
}

Graph classify(Builder& b, Value x, std::uint32_t classes) {
  x = b.dropout(b.relu(b.dense(x, 4096, vgg_dense_layer)), 0.5);
  x = b.dropout(b.relu(b.dense(x, 4096, vgg_dense_layer)), 0.5);
  return b.softmax_loss(b.dense(x, classes, vgg_dense_layer));
}

// torchvision's: 7 × 7 bins, which change nothing for images of 224 × 224.
template <bool norms>
Graph imagenet_vgg(Builder& b, std::uint32_t classes) {
  return classify(b, b.avg_pool_bins(convolutions(b, norms), 7), classes);
}
Graph plain_vgg(Builder& b, std::uint32_t classes) {
  return classify(b, convolutions(b, false), classes);
}
Graph cifar_vgg_bn(Builder& b, std::uint32_t classes) {
  return b.softmax_loss(b.dense(convolutions(b, true), classes, vgg_dense_layer));
}

TrainRecipe vgg_recipe(double rate, std::vector<std::uint64_t> drops) {
  return {
      .batch = 128,
      .update = {.momentum = 0.9, .decay = 5e-4},
      .schedule = {.policy = "multistep", .rate = rate, .gamma = 0.1, .steps = std::move(drops)}};
}

TrainRecipe imagenet_vgg_recipe() {
  return {.batch = 256,
          .update = {.momentum = 0.9, .decay = 5e-4},
          .schedule = {.policy = "step", .rate = 0.01, .gamma = 0.1, .step_size = 100000}};
}

const Network vgg16_row("vgg16", "VGG's 16 layers, as published and as torchvision has them",
                        {imagenet_image, 1000, imagenet_vgg_recipe(), imagenet_vgg<false>,
                         "imagenet-train"});
const Network vgg16_bn_row("vgg16:bn", "VGG's 16 layers with norms after the convolutions",
                           {imagenet_image, 1000, imagenet_vgg_recipe(), imagenet_vgg<true>,
                            "imagenet-train"});
const Network vgg16_cifar_row("vgg16:cifar",
                              "VGG's 16 layers, two dense ones of 4096, without norms",
                              {cifar_image, 10, vgg_recipe(0.01, {32000, 48000}), plain_vgg,
                               "none"});
const Network vgg16_cifar_bn_row("vgg16:cifar-bn",
                                 "VGG's 13 convolutions with norms, one dense layer",
                                 {cifar_image, 10, vgg_recipe(0.05, {32000, 48000}), cifar_vgg_bn,
                                  "cifar-train"});

}  // namespace

extern const Network &vgg16_network, &vgg16_bn_network;
extern const Network &vgg16_cifar_network, &vgg16_cifar_bn_network;
const Network& vgg16_network = vgg16_row;
const Network& vgg16_bn_network = vgg16_bn_row;
const Network& vgg16_cifar_network = vgg16_cifar_row;
const Network& vgg16_cifar_bn_network = vgg16_cifar_bn_row;

}  // namespace feedrate::trainer
