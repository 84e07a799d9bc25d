#include <algorithm>

#include "trainer/backends/cpu/bf16_dense.h"
#include "trainer/backends/cpu/dense_layer.h"

namespace feedrate::cpu {

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  // Of narrower ones rounding takes longer than is gained; they come last and are small.
  constexpr std::int64_t narrowest = 64;
  if (site.bf16 && std::min(site.input.elements(), site.node().extent.channels) >= narrowest) {
    return make_bf16_dense(site);
  }
  return std::make_unique<DenseLayer>(site);
}

}  // namespace feedrate::cpu
