// The multilayer perceptron of Keras' mnist_mlp, trained by SGD in place of its RMSprop.

#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Mlp final : public Network {
 public:
  using Network::Network;
  Graph build(Shape input, std::uint32_t classes) const override {
    const Builder::Layer layer{.weight = {Init::Rule::glorot_uniform, 0}};
    Builder b("mlp", input, classes);
    auto x = b.input(1.0 / 255);
    x = b.dropout(b.relu(b.dense(x, 512, layer)), 0.2);
    x = b.dropout(b.relu(b.dense(x, 512, layer)), 0.2);
    return b.softmax_loss(b.dense(x, classes, layer));
  }
  Shape published_input() const override { return {28, 28, 1}; }
  std::uint32_t published_classes() const override { return 10; }
  TrainRecipe recipe() const override {
    return {.batch = 128, .momentum = 0.9, .decay = 0, .schedule = {.rate = 0.05}};
  }
};

const Mlp row("mlp", "three dense layers with dropout; Keras' for MNIST");

}  // namespace

extern const Network& mlp_network;
const Network& mlp_network = row;

}  // namespace feedrate::trainer
