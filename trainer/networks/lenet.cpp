// LeNet as Caffe trains it on MNIST (examples/mnist/lenet_train_test.prototxt, lenet_solver).

#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Lenet final : public Network {
 public:
  using Network::Network;
  Graph build(Shape input, std::uint32_t classes) const override {
    const Builder::Layer layer{.bias_rate_scale = 2};
    Builder b("lenet", input, classes);
    auto x = b.input(1.0 / 256);
    x = b.max_pool(b.conv(x, 20, 5, 1, 0, layer), 2, 2);
    x = b.max_pool(b.conv(x, 50, 5, 1, 0, layer), 2, 2);
    x = b.relu(b.dense(x, 500, layer));
    return b.softmax_loss(b.dense(x, classes, layer));
  }
  Shape published_input() const override { return {28, 28, 1}; }
  std::uint32_t published_classes() const override { return 10; }
  TrainRecipe recipe() const override {
    return {.batch = 64,
            .momentum = 0.9,
            .decay = 5e-4,
            .schedule = {.policy = "inv", .rate = 0.01, .gamma = 1e-4, .power = 0.75}};
  }
};

const Lenet row("lenet", "two convolutions, two dense layers; Caffe's for MNIST");

}  // namespace

extern const Network& lenet_network;
const Network& lenet_network = row;

}  // namespace feedrate::trainer
