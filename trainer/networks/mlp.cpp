// The multilayer perceptron of Keras' mnist_mlp, trained by SGD in place of its RMSprop.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

Graph mlp(Builder& b, std::uint32_t classes) {
  Builder::Value x = b.input(1.0 / 255);
  x = b.dropout(b.relu(b.dense(x, 512, glorot_layer)), 0.2);
  x = b.dropout(b.relu(b.dense(x, 512, glorot_layer)), 0.2);
  return b.softmax_loss(b.dense(x, classes, glorot_layer));
}

const Network mlp_row("mlp", "three dense layers with dropout; Keras' for MNIST",
                      {mnist_image,
                       10,
                       {.batch = 128, .update = {.momentum = 0.9}, .schedule = {.rate = 0.05}},
                       mlp,
                       "mnist"});

}  // namespace

extern const Network& mlp_network;
const Network& mlp_network = mlp_row;

}  // namespace feedrate::trainer
