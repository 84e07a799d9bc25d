#include "trainer/backends/cpu/layers/pointwise_layer.h"
#include "trainer/backends/cpu/values/arrays.h"

namespace feedrate::trainer::cpu {
namespace {

template <class T>
using ReluLayer = PointwiseLayer<T, relu_values<T>, relu_gradients<T>>;

}  // namespace

std::unique_ptr<Layer> make_relu_layer(const LayerSite& site) {
  return make_typed<ReluLayer>(site);
}

}  // namespace feedrate::trainer::cpu
