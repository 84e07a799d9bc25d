// What other frameworks called LeNet: MXNet's (Caffe's with tanh), tf_cnn_benchmarks' (wider,
// padded) and PyTorch's example of 2018 (narrow; its second dropout zeroed whole channels, this one
// zeroes single values).

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

Value tanh(Builder& b, Value x) { return b.add("tanh", {x}, {}, {}); }

Graph mxnet_lenet(Builder& b, std::uint32_t classes) {
  const Builder::Layer layer{.weight = {Init::Rule::he_normal, 0}};
  Value x = b.input(1.0 / 255);
  x = b.max_pool(tanh(b, b.conv(x, 20, 5, 1, 0, layer)), 2, 2);
  x = b.max_pool(tanh(b, b.conv(x, 50, 5, 1, 0, layer)), 2, 2);
  x = tanh(b, b.dense(x, 500, layer));
  return b.softmax_loss(b.dense(x, classes, layer));
}

Graph tensorflow_lenet(Builder& b, std::uint32_t classes) {
  const Builder::Layer layer{.weight = {Init::Rule::glorot_uniform, 0}};
  Value x = b.input(1.0 / 255);
  x = b.max_pool(b.relu(b.conv(x, 32, 5, 1, 2, layer)), 2, 2);
  x = b.max_pool(b.relu(b.conv(x, 64, 5, 1, 2, layer)), 2, 2);
  x = b.relu(b.dense(x, 512, layer));
  return b.softmax_loss(b.dense(x, classes, layer));
}

Graph pytorch_lenet(Builder& b, std::uint32_t classes) {
  Value x = b.input(1 / (255 * 0.3081), 255 * 0.1307);  // to a mean of 0 and a deviation of 1
  x = b.relu(b.max_pool(b.conv(x, 10, 5, 1, 0, pytorch_layer(25)), 2, 2));
  x = b.dropout(b.conv(x, 20, 5, 1, 0, pytorch_layer(250)), 0.5);
  x = b.relu(b.max_pool(x, 2, 2));
  x = b.dropout(b.relu(b.dense(x, 50, pytorch_layer(320))), 0.5);
  return b.softmax_loss(b.dense(x, classes, pytorch_layer(50)));
}

const Network lenet_mxnet_row("lenet:mxnet", "MXNet's: tanh where Caffe has none or ReLU",
                              {mnist_image,
                               10,
                               {.batch = 64, .update = {.decay = 1e-4}, .schedule = {.rate = 0.05}},
                               mxnet_lenet,
                               "mnist"});
const Network lenet_tf_row("lenet:tf", "tf_cnn_benchmarks': 32 and 64 filters, padded",
                           {mnist_image,
                            10,
                            {.batch = 64, .update = {.decay = 4e-5}, .schedule = {.rate = 0.01}},
                            tensorflow_lenet,
                            "mnist"});
const Network lenet_pytorch_row(
    "lenet:pytorch", "PyTorch's example of 2018: 10 and 20 filters",
    {mnist_image,
     10,
     {.batch = 64, .update = {.momentum = 0.5}, .schedule = {.rate = 0.01}},
     pytorch_lenet,
     "mnist"});

}  // namespace

extern const Network &lenet_mxnet_network, &lenet_tf_network, &lenet_pytorch_network;
const Network& lenet_mxnet_network = lenet_mxnet_row;
const Network& lenet_tf_network = lenet_tf_row;
const Network& lenet_pytorch_network = lenet_pytorch_row;

}  // namespace feedrate::trainer
