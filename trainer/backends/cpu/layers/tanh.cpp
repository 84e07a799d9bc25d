#include <cmath>

#include "trainer/backends/cpu/layers/pointwise_layer.h"
#include "trainer/ops/tanh.h"

namespace feedrate::trainer::cpu {
namespace {

template <class T>
void tanh_values(const T* in, std::int64_t size, T* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = T(std::tanh(float{in[i]}));
}

template <class T>
void tanh_gradients(const T* gradient, const T* output, std::int64_t size, T* to) {
  for (std::int64_t i = 0; i < size; ++i) to[i] = T(tanh_gradient(gradient[i], output[i]));
}

template <class T>
using TanhLayer = PointwiseLayer<T, tanh_values<T>, tanh_gradients<T>>;

}  // namespace

std::unique_ptr<Layer> make_tanh_layer(const LayerSite& site) {
  return make_typed<TanhLayer>(site);
}

}  // namespace feedrate::trainer::cpu
