#include <cmath>

#include "trainer/backends/cpu/layers/pointwise_layer.h"
#include "trainer/ops/tanh.h"

namespace feedrate::trainer::cpu {
namespace {

void tanh_values(const float* in, std::int64_t size, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = std::tanh(in[i]);
}

void tanh_gradients(const float* gradient, const float* output, std::int64_t size, float* to) {
  for (std::int64_t i = 0; i < size; ++i) to[i] = tanh_gradient(gradient[i], output[i]);
}

}  // namespace

std::unique_ptr<Layer> make_tanh_layer(const LayerSite& site) {
  return std::make_unique<PointwiseLayer<tanh_values, tanh_gradients>>(site);
}

}  // namespace feedrate::trainer::cpu
