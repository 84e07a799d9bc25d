// What MXNet 1.2 called AlexNet (no groups), GoogLeNet (no LRN, no heads, no dropout; partial
// windows are dropped) and ResNet-50 on CIFAR-10 (6n + 2 layers, n = 8, norms before convolutions;
// its norm of the pixels is a fixed mean and scale here).

#include "trainer/networks/common.h"
#include "trainer/networks/inception.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

const Builder::Layer mxnet_layer{.weight = {Init::Rule::he_normal, 0}};

Graph mxnet_alexnet(Builder& b, std::uint32_t classes) {
  const Builder::Response response{.k = 2};
  Value x = b.lrn(b.relu(b.conv(b.input(1.0 / 58, 115), 96, 11, 4, 0, mxnet_layer)), response);
  x = b.conv(b.max_pool(x, 3, 2), 256, 5, 1, 2, mxnet_layer);
  x = b.max_pool(b.lrn(b.relu(x), response), 3, 2);
  x = b.relu(b.conv(x, 384, 3, 1, 1, mxnet_layer));
  x = b.relu(b.conv(x, 384, 3, 1, 1, mxnet_layer));
  x = b.max_pool(b.relu(b.conv(x, 256, 3, 1, 1, mxnet_layer)), 3, 2);
  x = b.dropout(b.relu(b.dense(x, 4096, mxnet_layer)), 0.5);
  x = b.dropout(b.relu(b.dense(x, 4096, mxnet_layer)), 0.5);
  return b.softmax_loss(b.dense(x, classes, mxnet_layer));
}

Value mxnet_conv(Builder& b, Value x, std::int64_t filters, std::int64_t kernel,
                 std::int64_t stride = 1) {
  return b.relu(b.conv(x, filters, kernel, stride, kernel / 2, mxnet_layer));
}

Graph mxnet_googlenet(Builder& b, std::uint32_t classes) {
  Value x = b.max_pool(mxnet_conv(b, b.input(1.0 / 58, 115), 64, 7, 2), 3, 2);
  x = b.max_pool(mxnet_conv(b, mxnet_conv(b, x, 64, 1), 192, 3), 3, 2);
  const auto plain_conv = [&b](Value from, std::int64_t filters, std::int64_t kernel) {
    return mxnet_conv(b, from, filters, kernel);
  };
  for (std::size_t i = 0; i < std::size(inceptions); ++i) {
    if (i == 2 || i == 7) x = b.max_pool(x, 3, 2);
    x = inception(b, x, inceptions[i], 5, plain_conv);
  }
  return b.softmax_loss(b.dense(b.global_avg_pool(x), classes, mxnet_layer));
}

Value mxnet_norm(Builder& b, Value x) { return b.relu(b.batch_norm(x, {.epsilon = 2e-5})); }

Graph mxnet_resnet(Builder& b, std::uint32_t classes) {
  Builder::Layer bare = mxnet_layer;
  bare.no_bias = true;
  Value x = b.conv(b.input(1.0 / 64, 120), 16, 3, 1, 1, bare);
  for (const std::int64_t filters : {16, 32, 64}) {
    for (int i = 0; i < 8; ++i) {
      const std::int64_t stride = i == 0 && filters != 16 ? 2 : 1;
      const Value ready = mxnet_norm(b, x);
      Value y = mxnet_norm(b, b.conv(ready, filters, 3, stride, 1, bare));
      y = b.conv(y, filters, 3, 1, 1, bare);
      x = b.sum(y, i == 0 ? b.conv(ready, filters, 1, stride, 0, bare) : x);
    }
  }
  return b.softmax_loss(b.dense(b.global_avg_pool(mxnet_norm(b, x)), classes, mxnet_layer));
}

TrainRecipe mxnet_recipe(double rate) {
  return {.batch = 128, .update = {.decay = 1e-4}, .schedule = {.rate = rate}};
}

const Network alexnet_mxnet_row("alexnet:mxnet", "MXNet's: LRN, no groups",
                                {imagenet_image, 1000, mxnet_recipe(0.01), mxnet_alexnet,
                                 "imagenet-train"});
const Network googlenet_mxnet_row("googlenet:mxnet", "MXNet's: no LRN, no heads, no dropout",
                                  {imagenet_image, 1000, mxnet_recipe(0.01), mxnet_googlenet,
                                   "imagenet-train"});
const Network resnet50_mxnet_row(
    "resnet50:mxnet-cifar", "MXNet's of 6n + 2 layers, n = 8, on 28 x 28, norms first",
    {{28, 28, 3}, 10, mxnet_recipe(0.05), mxnet_resnet, "cifar-train"});

}  // namespace

extern const Network &alexnet_mxnet_network, &googlenet_mxnet_network, &resnet50_mxnet_network;
const Network& alexnet_mxnet_network = alexnet_mxnet_row;
const Network& googlenet_mxnet_network = googlenet_mxnet_row;
const Network& resnet50_mxnet_network = resnet50_mxnet_row;

}  // namespace feedrate::trainer
