#include "trainer/backends/cpu/products/bf16_dense.h"
#include "trainer/backends/cpu/products/dense_layer.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  if (site.bf16) return make_bf16_dense(site);
  return std::make_unique<DenseLayer>(site);
}

}  // namespace feedrate::trainer::cpu
