// LeNet as Caffe trains it on MNIST (examples/mnist/lenet_train_test.prototxt, lenet_solver).

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

Graph lenet(Builder& b, std::uint32_t classes) {
  const Builder::Layer layer{.bias_rate_scale = 2};
  Builder::Value x = b.input(1.0 / 256);
  x = b.max_pool(b.conv(x, 20, 5, 1, 0, layer), 2, 2);
  x = b.max_pool(b.conv(x, 50, 5, 1, 0, layer), 2, 2);
  x = b.relu(b.dense(x, 500, layer));
  return b.softmax_loss(b.dense(x, classes, layer));
}

TrainRecipe lenet_recipe() {
  return {.batch = 64,
          .update = {.momentum = 0.9, .decay = 5e-4},
          .schedule = {.policy = "inv", .rate = 0.01, .gamma = 1e-4, .power = 0.75}};
}

const Network lenet_row("lenet", "two convolutions, two dense layers; Caffe's for MNIST",
                        {mnist_image, 10, lenet_recipe(), lenet, "mnist"});

}  // namespace

extern const Network& lenet_network;
const Network& lenet_network = lenet_row;

}  // namespace feedrate::trainer
