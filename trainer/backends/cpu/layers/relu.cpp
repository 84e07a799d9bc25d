#include "trainer/backends/cpu/layers/pointwise_layer.h"
#include "trainer/backends/cpu/values/relu_values.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_relu_layer(const LayerSite& site) {
  return std::make_unique<PointwiseLayer<relu_values, relu_gradients>>(site);
}

}  // namespace feedrate::trainer::cpu
