#include "trainer/network.h"

namespace feedrate {

extern const Network& lenet_network;
extern const Network& mlp_network;
extern const Network& resnet50_cifar_network;
extern const Network& resnet56_network;
extern const Network& vgg16_cifar_network;
extern const Network& vgg16_cifar_bn_network;

std::span<const Network* const> networks() {
  static const Network* const rows[] = {
      &lenet_network,
      &mlp_network,
      &resnet50_cifar_network,
      &resnet56_network,
      &vgg16_cifar_network,
      &vgg16_cifar_bn_network,
  };
  return rows;
}

const Network& network(std::string_view name) { return find_kind("network", name, networks()); }

}  // namespace feedrate
