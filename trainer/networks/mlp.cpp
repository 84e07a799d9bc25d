// The multilayer perceptron of Keras' mnist_mlp, trained by SGD in place of its RMSprop.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

Graph build(Builder& b, std::uint32_t classes) {
  const Builder::Layer layer{.weight = {Init::Rule::glorot_uniform, 0}};
  Builder::Value x = b.input(1.0 / 255);
  x = b.dropout(b.relu(b.dense(x, 512, layer)), 0.2);
  x = b.dropout(b.relu(b.dense(x, 512, layer)), 0.2);
  return b.softmax_loss(b.dense(x, classes, layer));
}

const Network row("mlp", "three dense layers with dropout; Keras' for MNIST",
                  {mnist_image,
                   10,
                   {.batch = 128, .update = {.momentum = 0.9}, .schedule = {.rate = 0.05}},
                   build,
                   "mnist"});

}  // namespace

extern const Network& mlp_network;
const Network& mlp_network = row;

}  // namespace feedrate::trainer
