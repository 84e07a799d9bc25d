// max(0, x), in place where the plan allows.

#include "trainer/backends/cuda/layers/pointwise_layer.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

struct Relu {
  static constexpr const char* forward = "relu forward";
  static constexpr const char* backward = "relu backward";
  struct Forward {
    __device__ float operator()(std::int64_t, float x) const { return relu(x); }
  };
  struct Backward {
    __device__ float operator()(std::int64_t, float gradient, float output) const {
      return relu_gradient(gradient, output);
    }
  };
};

template <class T>
using ReluLayer = PointwiseLayer<T, Relu>;

}  // namespace

std::unique_ptr<Layer> make_relu_layer(const LayerSite& site) {
  return make_typed<ReluLayer>(site);
}

}  // namespace feedrate::trainer::cuda
