#include "trainer/network.h"

namespace feedrate {

extern const Network& lenet_network;
extern const Network& mlp_network;

std::span<const Network* const> networks() {
  static const Network* const rows[] = {
      &lenet_network,
      &mlp_network,
  };
  return rows;
}

const Network& network(std::string_view name) { return find_kind("network", name, networks()); }

}  // namespace feedrate
