#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

extern const Network& lenet_network;
extern const Network &lenet_mxnet_network, &lenet_tf_network, &lenet_pytorch_network;
extern const Network& mlp_network;
extern const Network& cnn_network;
extern const Network& cnn_mnist_network;
extern const Network& lstm_network;
extern const Network& alexnet_network;
extern const Network& alexnet_caffe_network;
extern const Network& alexnet_cifar_network;
extern const Network& googlenet_network;
extern const Network& googlenet_caffe_network;
extern const Network& googlenet_cifar_network;
extern const Network& resnet50_network;
extern const Network& resnet50_v1_network;
extern const Network& resnet50_cifar_network;
extern const Network& resnet56_network;
extern const Network &alexnet_mxnet_network, &googlenet_mxnet_network, &resnet50_mxnet_network;
extern const Network& vgg16_network;
extern const Network& vgg16_bn_network;
extern const Network& vgg16_cifar_network;
extern const Network& vgg16_cifar_bn_network;

std::span<const Network* const> networks() {
  static const Network* const rows[] = {
      &lenet_network,
      &lenet_mxnet_network,
      &lenet_tf_network,
      &lenet_pytorch_network,
      &mlp_network,
      &cnn_network,
      &cnn_mnist_network,
      &lstm_network,
      &alexnet_network,
      &alexnet_caffe_network,
      &alexnet_mxnet_network,
      &alexnet_cifar_network,
      &googlenet_network,
      &googlenet_caffe_network,
      &googlenet_mxnet_network,
      &googlenet_cifar_network,
      &resnet50_network,
      &resnet50_v1_network,
      &resnet50_cifar_network,
      &resnet50_mxnet_network,
      &resnet56_network,
      &vgg16_network,
      &vgg16_bn_network,
      &vgg16_cifar_network,
      &vgg16_cifar_bn_network,
  };
  return rows;
}

const Network& network(std::string_view name) { return find_kind("network", name, networks()); }

}  // namespace feedrate::trainer
