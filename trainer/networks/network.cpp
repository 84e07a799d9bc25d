#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Network& name##_network;
#include "trainer/networks/list.inc"
#undef FEEDRATE_ROW

std::span<const Network* const> networks() {
  static const Network* const rows[] = {
#define FEEDRATE_ROW(name) &name##_network,
#include "trainer/networks/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Network& network(std::string_view name) { return find_kind("network", name, networks()); }

}  // namespace feedrate::trainer
