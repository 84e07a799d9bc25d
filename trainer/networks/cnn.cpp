// Keras' two convolutional examples, cifar10_cnn and mnist_cnn, trained by SGD in place of their
// RMSprop and Adadelta.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

Graph cifar_cnn(Builder& b, std::uint32_t classes) {
  Value x = b.input(1.0 / 255);
  for (const std::int64_t filters : {32, 64}) {
    x = b.relu(b.conv(x, filters, 3, 1, 1, glorot_layer));
    x = b.relu(b.conv(x, filters, 3, 1, 0, glorot_layer));
    x = b.dropout(b.max_pool(x, 2, 2), 0.25);
  }
  x = b.dropout(b.relu(b.dense(x, 512, glorot_layer)), 0.5);
  return b.softmax_loss(b.dense(x, classes, glorot_layer));
}

Graph mnist_cnn(Builder& b, std::uint32_t classes) {
  Value x = b.relu(b.conv(b.input(1.0 / 255), 32, 3, 1, 0, glorot_layer));
  x = b.relu(b.conv(x, 64, 3, 1, 0, glorot_layer));
  x = b.dropout(b.max_pool(x, 2, 2), 0.25);
  x = b.dropout(b.relu(b.dense(x, 128, glorot_layer)), 0.5);
  return b.softmax_loss(b.dense(x, classes, glorot_layer));
}

TrainRecipe cnn_recipe(std::uint32_t batch, double rate) {
  return {.batch = batch, .update = {.momentum = 0.9, .decay = 0}, .schedule = {.rate = rate}};
}

const Network cnn_row("cnn", "four convolutions and two dense layers; Keras' for CIFAR-10",
                      {cifar_image, 10, cnn_recipe(32, 0.01), cifar_cnn, "cifar-train"});
const Network cnn_mnist_row("cnn:mnist", "two convolutions and two dense layers; Keras' for MNIST",
                            {mnist_image, 10, cnn_recipe(128, 0.05), mnist_cnn, "mnist"});

}  // namespace

extern const Network &cnn_network, &cnn_mnist_network;
const Network& cnn_network = cnn_row;
const Network& cnn_mnist_network = cnn_mnist_row;

}  // namespace feedrate::trainer
