#include "trainer/backends/cpu/products/bf16_dense.h"
#include "trainer/backends/cpu/products/dense_layer.h"
#include "trainer/backends/cpu/values/in_fp32.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  return site.bf16 ? make_bf16_dense(site) : make_in_fp32<DenseLayer>(site);
}

}  // namespace feedrate::trainer::cpu
